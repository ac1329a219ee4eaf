# SPDX-License-Identifier: GPL-3.0-or-later
# Owns completion of hvtune in bash. tests/docs compares it with --help.

# The names of knobs, each with what is given behind it; families cannot be set by their own name.
_hvtune_knobs() {
    hvtune knobs 2>/dev/null | awk -v behind="${1-}" '/^  [a-z]/ && $1 !~ /\*/ { print $1 behind }'
}

_hvtune() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local commands="check show explain lint place set apply fix confirm undo status knobs meters study tune workloads report run compare top idle results capture hold-latency help" options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    case $command in
    check) options="--host --connect --json --all --min --ignore --timing --help" ;;
    show) options="--host --connect --sources --json --svg --list --timing --help" ;;
    explain) options="--list --json --markdown --help" ;;
    lint) options="--kind --host --json --all --timing --help" ;;
    place)
        options="--new --name --count --file --policy --repin --move --max-excess --even --smt --reserve --what-if"
        options+=" --format --plan --apply --yes --dry-run --settle --host --connect --json --svg --timing --help"
        ;;
    set) options="--through --yes --dry-run --accept-risk --no-trial --settle --host --json --help" ;;
    apply | fix) options="--yes --dry-run --accept-risk --no-trial --settle --host --json --help" ;;
    confirm) options="--wait --host --json --help" ;;
    undo) options="--all --yes --host --json --help" ;;
    status | knobs) options="--host --json --help" ;;
    meters) options="--window --meters --host --json --help" ;;
    top) options="--refresh --cpus --batch --prometheus --times --host --connect --help" ;;
    report) options="--format --output --store --json --help" ;;
    study)
        options="--vm --pick --slower --measured-elsewhere --done --cannot --not-sure --yes --dry-run --accept-risk --no-trial --settle --max-load --max-temp"
        options+=" --meters --store --no-store --host --json --help"
        ;;
    tune)
        options="--minutes --apply --yes --accept-risk --cwd --max-load --max-temp --meters --store --no-store --json --help"
        ;;
    workloads) options="--yes --dry-run --json --help" ;;
    idle)
        options="--settle --window --meters --label --store --no-store --json --help"
        ;;
    results)
        options="--store --format --yes --json --help"
        ;;
    run)
        options="--workload --runs --precision --max-runs --time --warmup --on --setup --prepare --conclude --cleanup --shell"
        options+=" --cwd --env --input --timeout --exit-code --show-output --metric --read-from --target --max-load --max-temp"
        options+=" --meters --label --store --no-store --json --help"
        ;;
    compare)
        options="--a --b --c --d --switch --blocks --max-blocks --margin --time --warmup --calibrate --no-calibration"
        options+=" --seed --fail-if-slower --accept-risk --host --on --setup --prepare --conclude --cleanup --shell"
        options+=" --cwd --env --input --timeout --exit-code --show-output --metric --read-from --target --max-load --max-temp"
        options+=" --meters --label --store --no-store --json --help"
        ;;
    capture) options="--output --force --host --timing --help" ;;
    hold-latency) options="--help" ;;
    help)
        mapfile -t COMPREPLY < <(compgen -W "${commands% help}" -- "$word")
        return
        ;;
    *) return ;;
    esac
    case $before in
    --host | -H | --meters | --svg | --output | -o | --file | --cwd | --input | --read-from | --store | --prometheus)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --connect | -c)
        mapfile -t COMPREPLY < <(compgen -W "qemu:///system qemu:///session" -- "$word")
        return
        ;;
    --through)
        mapfile -t COMPREPLY < <(compgen -W "tuned" -- "$word")
        return
        ;;
    --min | -m)
        mapfile -t COMPREPLY < <(compgen -W "fail warn advice info good" -- "$word")
        return
        ;;
    --ignore | -i)
        mapfile -t COMPREPLY < <(compgen -W "$(hvtune explain --list 2>/dev/null | awk '/^[a-z]+ +[a-z]+\./ { print $2 }')" -- "$word")
        return
        ;;
    --kind | -k)
        mapfile -t COMPREPLY < <(compgen -W "domain proxmox qemu cmdline entry grub modprobe tuned tuned-log" -- "$word")
        return
        ;;
    --metric)
        mapfile -t COMPREPLY < <(compgen -W "iperf3 sysbench fio stress-ng phoronix" -- "$word")
        return
        ;;
    --policy | -p)
        mapfile -t COMPREPLY < <(compgen -W "pack spread power cache frequency" -- "$word")
        return
        ;;
    --smt)
        mapfile -t COMPREPLY < <(compgen -W "exposed isolated one-per-core" -- "$word")
        return
        ;;
    --what-if)
        mapfile -t COMPREPLY < <(compgen -W "nps=1 nps=2 nps=4 l3-as-numa" -- "$word")
        return
        ;;
    --format)
        local forms="text xml diff virsh qm qemu"
        [ "$command" = report ] && forms="text html markdown json csv svg"
        mapfile -t COMPREPLY < <(compgen -W "$forms" -- "$word")
        return
        ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        return
    fi
    case $command in
    show) mapfile -t COMPREPLY < <(compgen -W "$(hvtune show --list 2>/dev/null | cut -d ' ' -f 1)" -- "$word") ;;
    explain | fix) mapfile -t COMPREPLY < <(compgen -W "$(hvtune explain --list 2>/dev/null | awk '/^[a-z]+ +[a-z]+\./ { print $2 }')" -- "$word") ;;
    results) mapfile -t COMPREPLY < <(compgen -W "list show compare delete merge export import" -- "$word") ;;
    run | compare) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    lint | apply) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    set)
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "$(_hvtune_knobs =)" -- "$word")
        ;;
    knobs) mapfile -t COMPREPLY < <(compgen -W "$(_hvtune_knobs)" -- "$word") ;;
    esac
}

complete -o filenames -F _hvtune hvtune
