# SPDX-License-Identifier: GPL-3.0-or-later
"""`hvtune place`: what it prints in each form, what it refuses, and that its XML reads back as the plan."""
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
import hosts  # noqa: E402
from harness import TOP, Test, hvtune  # noqa: E402

EPYC, TWO_SOCKETS = "epyc-9354p", "2x-epyc-9654-nps4"

XML = """<domain type='kvm'>
  <!-- kept -->
  <name>db</name>
  <memory unit='GiB'>16</memory>
  <memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages></memoryBacking>
  <vcpu>{vcpus}</vcpu>
  <iothreads>1</iothreads>
  {pins}
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <cpu mode='host-passthrough'>
    <topology sockets='1' dies='1' cores='{cores}' threads='2'/>
    <feature policy='require' name='topoext'/>
  </cpu>
  <devices>
    <disk type='block' device='disk'><driver name='qemu' type='raw' iothread='1'/><target dev='vda' bus='virtio'/></disk>
  </devices>
</domain>
"""


def root(name):
    return hosts.root_of(name, hosts.names()[name])


def place(*arguments, host=EPYC, stdin=None):
    return hvtune("place", "--host", root(host) if host in hosts.names() else host, *arguments, stdin=stdin)


def pinned(cpus):
    lines = "".join(f"<vcpupin vcpu='{vcpu}' cpuset='{cpu}'/>" for vcpu, cpu in enumerate(cpus))
    return f"<cputune>{lines}</cputune>"


def domain(vcpus=8, pins=""):
    return XML.format(vcpus=vcpus, cores=vcpus // 2, pins=pins)


def cpus_of(text):
    """A list as Linux writes it, as a set."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


class Plan(Test):
    def plan(self, *arguments, code=0, **others):
        done = place(*arguments, "--json", **others)
        self.assert_code(done, code)
        self.assertEqual(done.err, "")
        return done.json()

    def test_a_vm_gets_one_ccx_and_siblings_side_by_side(self):
        vm = self.plan("--new", "8vcpu,16G,threads=2,pages=1G")["vms"][0]
        self.assertEqual(len(vm["parts"]), 1)
        for first, second in zip(vm["cpu_of_vcpu"][::2], vm["cpu_of_vcpu"][1::2]):
            self.assertEqual(second - first, 32)
        self.assertEqual(vm["memory"], [{"node": 0, "kib": 16 << 20, "page_kib": 1 << 20, "pages": 16}])
        self.assertEqual((vm["guest"]["sockets"], vm["guest"]["dies"], vm["guest"]["cores"], vm["guest"]["threads"]),
                         (1, 1, 4, 2))
        self.assertTrue(vm["score"]["proved_optimal"])
        self.assertEqual(vm["score"]["ns_per_core"], vm["score"]["ideal"])

    def test_nobody_shares_a_cpu_and_the_host_keeps_its_own(self):
        plan = self.plan("--new", "8vcpu,16G,threads=2", "--count", "6", "--name", "web")
        taken = cpus_of(plan["reserve"])
        self.assertTrue(taken)
        self.assertEqual([vm["name"] for vm in plan["vms"]], [f"web-{number}" for number in range(1, 7)])
        for vm in plan["vms"]:
            self.assertFalse(taken & set(vm["cpu_of_vcpu"]))
            taken |= set(vm["cpu_of_vcpu"])
            self.assertTrue(cpus_of(vm["emulator"]) <= cpus_of(plan["reserve"]))

    def test_several_new_vms_with_their_own_words(self):
        plan = self.plan("--new", "4vcpu,name=a", "--new", "2vcpu,name=b,count=2")
        self.assertEqual([vm["name"] for vm in plan["vms"]], ["a", "b-1", "b-2"])

    def test_what_does_not_fit_is_told_with_the_reason(self):
        plan = self.plan("--new", "8vcpu,name=a", "--new", "4000vcpu,name=b", code=1)
        self.assertEqual([vm["placed"] for vm in plan["vms"]], [True, False])
        self.assertTrue(plan["vms"][1]["why"])
        done = place("--new", "4000vcpu")
        self.assert_code(done, 1)
        self.assertRegex(done.out, r"no place for 4000 vCPUs\n  why +\S")

    def test_a_vm_over_two_ccxs_is_shown_dies(self):
        vm = self.plan("--new", "16vcpu,16G,threads=2", "--even")["vms"][0]
        self.assertEqual([part["cores"] for part in vm["parts"]], [4, 4])
        self.assertEqual((vm["guest"]["dies"], vm["guest"]["cores"]), (2, 4))

    def test_a_vm_over_two_nodes_gets_cells(self):
        vm = self.plan("--new", "80vcpu,64G,threads=2,pages=4K", host=TWO_SOCKETS)["vms"][0]
        self.assertEqual(len(vm["memory"]), 2)
        self.assertEqual(vm["guest"]["cells"], 2)
        self.assertEqual(sum(node["kib"] for node in vm["memory"]), 64 << 20)

    def test_smt(self):
        exposed, isolated, own = (self.plan("--new", "4vcpu", "--smt", use)["vms"][0]
                                  for use in ("exposed", "isolated", "one-per-core"))
        self.assertEqual((exposed["parts"][0]["cores"], exposed["idle_siblings"]), (2, ""))
        self.assertEqual(isolated["parts"][0]["cores"], 4)
        self.assertEqual(len(cpus_of(isolated["idle_siblings"])), 4)
        self.assertEqual(own["emulator"], own["idle_siblings"])

    def test_reserve(self):
        self.assertEqual(self.plan("--new", "4vcpu", "--reserve", "0")["reserve"], "")
        self.assertEqual(self.plan("--new", "4vcpu", "--reserve", "3,35")["reserve"], "3,35")

    def test_a_device_draws_the_vm_to_its_node(self):
        plan = self.plan("--new", "8vcpu,8G,pages=4K,device=eth0", host=TWO_SOCKETS)
        self.assertEqual([node["node"] for node in plan["vms"][0]["memory"]], [5])

    def test_policies(self):
        for policy in ("pack", "spread", "power"):
            plan = self.plan("--new", "4vcpu,count=2", "--policy", policy)
            self.assertEqual(plan["policy"], policy)
            ccxs = {vm["parts"][0]["ccx"] for vm in plan["vms"]}
            self.assertEqual(len(ccxs), 2 if policy == "spread" else 1, policy)

    def test_x3d(self):
        cache, frequency = (self.plan("--new", "8vcpu", "--policy", policy, host="ryzen-7950x3d")["vms"][0]["parts"]
                            for policy in ("cache", "frequency"))
        self.assertNotEqual(cache[0]["ccx"], frequency[0]["ccx"])
        # All of the large L3 is the VM's: the host's core is in the other.
        plan = self.plan("--new", "16vcpu", "--policy", "cache", host="ryzen-7950x3d")
        self.assertEqual([part["cores"] for part in plan["vms"][0]["parts"]], [8])
        self.assertEqual(plan["vms"][0]["score"]["class"], 0)

    def test_what_if(self):
        one = self.plan("--new", "8vcpu,8G,pages=4K", "--what-if", "nps=4")
        self.assertTrue(one["vms"][0]["placed"])

    def test_output_is_the_same_each_time(self):
        runs = {place("--new", "12vcpu,8G", "--count", "4", host=TWO_SOCKETS).out for _ in range(3)}
        self.assertEqual(len(runs), 1)


class Existing(Test):
    def plan(self, text, *arguments, code=0):
        done = place("--file", "-", *arguments, "--json", stdin=text)
        self.assert_code(done, code)
        return done.json()["vms"]

    def test_a_file_is_placed(self):
        vm = self.plan(domain())[0]
        self.assertEqual((vm["name"], vm["right"], len(vm["parts"])), ("db", "new", 1))

    def test_a_split_vm_is_put_together(self):
        pins = pinned([2, 34, 3, 35, 4, 36, 5, 37])
        vm = self.plan(domain(pins=pins))[0]
        self.assertEqual(vm["right"], "move")
        self.assertTrue(vm["changed"])
        self.assertEqual(len(vm["parts"]), 1)

    def test_a_vm_that_is_not_named_is_kept_and_stands_in_the_way(self):
        pins = pinned([4, 36, 5, 37, 6, 38, 7, 39])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "db.xml"
            path.write_text(domain(pins=pins), encoding="utf-8")
            done = place("--file", path, "--new", "8vcpu,name=web", "web", "--json")
            self.assert_code(done, 0)
            db, web = done.json()["vms"]
            self.assertEqual(db["right"], "keep")
            self.assertFalse(set(web["cpu_of_vcpu"]) & cpus_of(db["cpus_now"]))
            text = place("--file", path, "--new", "8vcpu,name=web", "web")
            self.assertIn("db stays on 4-7,36-39", text.out)
            self.assertIn("The host now:", text.out)

    def test_a_name_that_is_nobodys(self):
        done = place("--new", "8vcpu,name=web", "nobody")
        self.assert_code(done, 3)
        self.assert_one_line(done.err)


def running(name, pid, cpus, pages=0, node=0):
    """Files of a VM that runs: vCPU threads on `cpus` (lists), 1 GiB pages on the node."""
    command = ["/usr/bin/qemu-system-x86_64", "-name", f"guest={name},debug-threads=on", "-smp",
               f"{len(cpus)},sockets=1,cores={len(cpus) // 2},threads=2", "-m", f"{max(pages, 1)}G"]
    if pages:
        command += ["-object", f"memory-backend-memfd,id=m0,size={pages}G,hugetlb=on,hugetlbsize=1G", "-machine",
                    "q35,memory-backend=m0"]
    status = "Name:\tqemu-system-x86\nTgid:\t{0}\nPPid:\t1\nCpus_allowed_list:\t{1}\n"
    files = {f"proc/{pid}/comm": "qemu-system-x86\n", f"proc/{pid}/cmdline": "\0".join(command) + "\0",
             f"proc/{pid}/status": status.format(pid, "0-63"),
             f"proc/{pid}/numa_maps": f"7f0000000000 default file=/memfd:m0 huge dirty={pages} N{node}={pages} "
                                      "kernelpagesize_kB=1048576\n" if pages else "",
             f"proc/{pid}/task/{pid}/comm": "qemu-system-x86\n",
             f"proc/{pid}/task/{pid}/status": status.format(pid, "0-63"),
             "sys/module/kvm_amd/refcnt": "12\n"}
    for vcpu, allowed in enumerate(cpus):
        files[f"proc/{pid}/task/{pid + 1 + vcpu}/comm"] = f"CPU {vcpu}/KVM\n"
        files[f"proc/{pid}/task/{pid + 1 + vcpu}/status"] = status.format(pid, allowed)
    return files


class Running(Test):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=TOP / "build")))
        # Hard links, since thousands of small files are slow to copy: whoever writes to one removes it first.
        subprocess.run(["cp", "-al", f"{root(EPYC)}/.", self.folder], check=True)

    def add(self, files):
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).unlink(missing_ok=True)
            (self.folder / path).write_text(text, encoding="utf-8")

    def place(self, *arguments, code=0):
        done = hvtune("place", "--host", self.folder, *arguments)
        self.assert_code(done, code)
        self.assert_clean(done)
        return done

    def test_vms_that_have_a_place_are_kept(self):
        self.add(running("db", 900, ["4", "36", "5", "37"]))
        done = self.place()
        self.assertIn("All VMs have a place already", done.out)
        self.assertIn("A db stays on 4-5,36-37", done.out)
        self.assertIn("Nothing is to be changed.", done.out)

    def test_a_named_one_is_pinned_anew_by_the_ids_of_its_threads(self):
        self.add(running("db", 900, ["3", "35", "4", "36"]))
        vm = self.place("db", "--json").json()["vms"][0]
        self.assertEqual((vm["right"], vm["changed"], vm["migrate_kib"]), ("repin", True, 0))
        self.assertEqual(len(vm["parts"]), 1)
        out = self.place("db", "--format", "qemu").out
        for vcpu, cpu in enumerate(vm["cpu_of_vcpu"]):
            self.assertIn(f"taskset -cp {cpu} {901 + vcpu}\n", out)
        self.assertIn("virsh vcpupin db 0 ", self.place("db", "--format", "virsh").out)

    def test_one_that_floats_gives_its_pages_back(self):
        """All pages are its own: a place for it needs no others."""
        self.add(running("db", 900, ["0-63"] * 8, pages=128))
        for folder in ("kernel/mm", "devices/system/node/node0"):
            self.add({f"sys/{folder}/hugepages/hugepages-1048576kB/free_hugepages": "0\n"})
        plan = self.place("--json").json()
        self.assertTrue(plan["vms"][0]["placed"], plan)
        self.assertEqual(plan["steps"], [{"vm": "db", "do": "repin", "migrate_kib": 0}])

    def test_a_declared_one_gets_its_xml_changed(self):
        self.add(running("db", 900, ["3", "35", "4", "36", "5", "37", "6", "38"]))
        self.add({"etc/libvirt/qemu/db.xml": domain(8, pinned([3, 35, 4, 36, 5, 37, 6, 38]))})
        done = self.place("db", "--format", "diff")
        self.assertTrue(done.out.startswith("--- /etc/libvirt/qemu/db.xml\n+++ /etc/libvirt/qemu/db.xml\n"), done.out)
        self.assertRegex(done.out, r"(?m)^\+.*<emulatorpin")

    def test_proxmox(self):
        self.add({"etc/pve/qemu-server/100.conf": "name: web\ncores: 8\nmemory: 8192\naffinity: 2-5\nostype: l26\n"})
        done = self.place("web", "--format", "qm")
        self.assertRegex(done.out, r"(?m)^qm set 100 --affinity [\d,-]+$")

    def test_those_that_float_are_told_when_others_are_asked_for(self):
        self.add(running("db", 900, ["0-63"] * 4))
        self.assertIn("db has no place", self.place("--new", "4vcpu,name=web", "web").out)


class Forms(Test):
    def test_text(self):
        done = place("--new", "16vcpu,32G,threads=2,pages=1G", "--name", "web")
        self.assert_code(done, 0)
        self.assert_clean(done)
        for word in ("A web: 16 vCPUs on 8 cores", "vCPUs", "emulator", "memory", "show guest", "score", "why",
                     "proved optimal", "The host with this plan:", "host keeps", "next VM", "a VM gets faster"):
            self.assertIn(word, done.out)
        self.assertLessEqual(max(map(len, done.out.splitlines())), 80)

    def test_plan_is_the_list_of_steps(self):
        done = place("--new", "4vcpu", "--name", "web", "--plan")
        self.assertEqual(done.out, "To be done, in this order:\n  1.           web: with its next start\n")

    def test_pages_that_are_missing_are_the_first_step(self):
        words = ("--new", "96vcpu,512G,threads=2,pages=1G", "--name", "db")
        done = place(*words, "--plan", host=TWO_SOCKETS)
        steps = " ".join(done.out.split())
        self.assertRegex(steps, r"1\. reserve 171 more pages of 1 GiB on node (\d): echo 171 > /sys/devices/system/node/"
                                r"node\1/hugepages/hugepages-1048576kB/nr_hugepages 2\. ")
        self.assertRegex(steps, r"at boot: hugepagesz=1G hugepages=\d:171,\d:171,\d:170 4\. db: with its next start$")
        as_json = place(*words, "--json", host=TWO_SOCKETS).json()["steps"]
        self.assertEqual([step["do"] for step in as_json], ["reserve_pages"] * 3 + ["start"])
        self.assertEqual(sum(step["more"] for step in as_json[:3]), 512)
        # 64 of 128 that are free, ordinary memory, and a BIOS that is not set: nothing to reserve.
        for arguments in (["--new", "8vcpu,64G,pages=1G"], ["--new", "8vcpu,64G,pages=4K"],
                          ["--new", "8vcpu,64G,pages=2M", "--what-if", "nps=2"]):
            self.assertNotIn("reserve", place(*arguments, "--plan").out)

    def test_a_vm_is_drawn_where_it_is_and_the_others_are_told_by_their_likes(self):
        done = place("--new", "32vcpu,8G", "--name", "db", host=TWO_SOCKETS)
        self.assertEqual(done.out.count("A A A A A A A A"), 4)
        self.assertRegex(done.out, r"CCX 5  like CCX 4\b")
        self.assertRegex(done.out, r"CCX 8  like CCX 4\b")
        self.assertNotIn("like these", done.out)

    def test_the_only_node_is_not_named_to_who_names_none(self):
        plain = domain()
        bound = plain.replace("<os>", "<numatune><memory mode='strict' nodeset='0'/></numatune><os>")
        for text, host, there in ((plain, EPYC, False), (bound, EPYC, True), (plain, TWO_SOCKETS, True)):
            with self.subTest(host=host, there=there):
                done = place("--file", "-", "--format", "xml", host=host, stdin=text)
                self.assert_code(done, 0)
                self.assertEqual("numatune" in done.out, there)
        line = "qemu-system-x86_64 -name a -enable-kvm -cpu host -smp 8 -m 16G"
        self.assertNotIn("memory-backend", place("--file", "-", "--format", "qemu", stdin=line).out)

    def test_caches_of_the_host_stay_where_they_are_true(self):
        text = domain(6).replace("</topology>", "").replace("<feature", "<cache mode='passthrough'/><feature")
        inside = place("--file", "-", "--format", "xml", host=TWO_SOCKETS, stdin=text)  # three of eight cores
        self.assertIn("<cache mode='passthrough'/>", inside.out)
        text = domain(12).replace("<feature", "<cache mode='passthrough'/><feature")
        over_two = place("--file", "-", "--format", "xml", stdin=text)  # twice three of four cores
        self.assertIn("<cache mode='emulate' level='3'/>", over_two.out)

    def test_vhost_workers_that_are_too_many_are_told(self):
        text = domain().replace("<devices>", "<devices><interface type='bridge'><source bridge='br0'/><model type='virtio'/>"
                                             "<driver queues='8'/></interface>")
        done = " ".join(place("--file", "-", stdin=text).out.split())
        self.assertIn("its 8 vhost workers are more than these 2 CPUs", done)
        self.assertNotIn("vhost workers are", place("--file", "-", stdin=text.replace("queues='8'", "queues='2'")).out)

    def test_new_xml_reads_back_as_the_plan(self):
        for words, host in (("16vcpu,16G,threads=2", EPYC), ("96vcpu,64G,threads=2,pages=4K", TWO_SOCKETS),
                            ("6vcpu,8G,threads=1", EPYC)):
            vm = place("--new", words, "--json", host=host).json()["vms"][0]
            text = place("--new", words, "--format", "xml", host=host).out
            xml.dom.minidom.parseString(text)
            pins = dict(re.findall(r"<vcpupin vcpu='(\d+)' cpuset='(\d+)'/>", text))
            self.assertEqual([int(pins[str(vcpu)]) for vcpu in range(len(pins))], vm["cpu_of_vcpu"])
            again = place("--file", "-", "--json", host=host, stdin=text).json()["vms"][0]
            self.assertFalse(again["changed"], again)
            self.assertEqual(again["cpu_of_vcpu"], vm["cpu_of_vcpu"])
            self.assertEqual(again["with_next_start"], None)
            self.assertEqual(place("--file", "-", "--format", "diff", host=host, stdin=text).out, "")

    def test_lint_finds_nothing_in_the_xml(self):
        for words, host in (("16vcpu,16G,threads=2", EPYC), ("10vcpu,8G", EPYC), ("8vcpu,8G,threads=1", EPYC),
                            ("80vcpu,64G,pages=4K", TWO_SOCKETS), ("300vcpu,512G,pages=4K", TWO_SOCKETS),
                            ("16vcpu,16G,prefer=cache", "ryzen-7950x3d")):
            text = place("--new", words, "--format", "xml", host=host).out
            done = hvtune("lint", "--host", root(host), "-", stdin=text)
            if "does not judge" in done.err:
                self.skipTest("lint does not judge VMs yet")
            self.assert_code(done, 0)

    def test_the_diff_of_a_file_is_a_patch(self):
        text = domain(pins=pinned([2, 34, 3, 35, 4, 36, 5, 37]))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "db.xml"
            path.write_text(text, encoding="utf-8")
            diff, whole = (place("--file", path, "--format", form) for form in ("diff", "xml"))
            self.assert_code(diff, 0)
            self.assertIn("<!-- kept -->", whole.out)
            self.assertIn("+", diff.out)
            done = subprocess.run(["patch", "-s", str(path)], input=diff.out, text=True, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(path.read_text(encoding="utf-8"), whole.out)
            self.assertEqual(place("--file", path, "--format", "diff").out, "")

    def test_commands(self):
        virsh = place("--new", "4vcpu,4G", "--name", "a b", "--format", "virsh").out
        self.assertRegex(virsh, r"(?m)^virsh vcpupin 'a b' 3 \d+ --config$")
        self.assertRegex(virsh, r"(?m)^virsh emulatorpin 'a b' [\d,-]+ --config$")
        qemu = place("--new", "4vcpu,4G,pages=1G", "--format", "qemu").out
        self.assertIn("-smp cpus=4,maxcpus=4,sockets=1,dies=1,cores=2,threads=2\n", qemu)
        self.assertIn("hugetlbsize=1G", qemu)
        qm = place("--new", "4vcpu,4G,pages=1G", "--format", "qm").out
        self.assertRegex(qm, r"(?m)^qm set VMID --affinity [\d,-]+$")
        for text in (virsh, qm, qemu.split("pid=")[1].join(["pid=", ""])):
            done = subprocess.run(["sh", "-n"], input=text, text=True, check=False)
            self.assertEqual(done.returncode, 0)

    def test_picture(self):
        done = place("--new", "4vcpu", "--svg", "-")
        self.assert_code(done, 0)
        xml.dom.minidom.parseString(done.out)
        self.assertRegex(done.out, r">A \d+<")

    def test_a_name_cannot_leave_its_comment(self):
        text = domain().replace("<name>db</name>", "<name>a&#10;reboot&#x202e;</name>")
        for form in ("qemu", "virsh", "qm", "diff", "text", "xml"):
            out = place("--file", "-", "--format", form, stdin=text).out
            self.assertIn("a", out)
            self.assertNotRegex(out, r"(?m)^reboot|\u202e")
        self.assertIn("virsh vcpupin $'a\\012reboot\\342\\200\\256' 0",
                      place("--file", "-", "--format", "virsh", stdin=text).out)


class Refused(Test):
    def refused(self, code, *arguments, stdin=None):
        done = place(*arguments, stdin=stdin)
        self.assert_code(done, code)
        self.assert_one_line(done.err)
        self.assertEqual(done.out, "")
        return done.err

    def test_apply(self):
        self.assertIn("--format xml", self.refused(2, "--new", "4vcpu", "--apply"))

    def test_usage(self):
        self.refused(2)
        for arguments in (["--policy", "best"], ["--smt", "on"], ["--format", "yaml"], ["--what-if", "nps=3"],
                          ["--reserve", "many"], ["--max-excess", "-1"], ["--json", "--format", "xml"]):
            self.refused(2, "--new", "4vcpu", *arguments)
        self.refused(2, "--name", "web")

    def test_words(self):
        self.assertIn("threads=", self.refused(2, "--new", "4vcpu,threds=2"))
        self.refused(2, "--new", "4vcpu", "--count", "0")
        self.refused(2, "--new", "4vcpu,count=100000")
        for words, why in (("0vcpu", "at least one"), ("4vcpu,8", "with a unit"), ("4vcpu,1.5G", "with a unit"),
                           ("4vcpu,8GiB", "with a unit"), ("4vcpu,0G", "at least 1M"), ("4vcpu,8G,9G", "already"),
                           ("4vcpu,nodes=1,nodes=2", "already"), ("4vcpu,name=a/b", "no /"),
                           ("4vcpu,name=a\nb", "no control")):
            self.assertIn(why, self.refused(2, "--new", words))
        self.refused(2, "--new", "4vcpu", "--name", "")

    def test_files(self):
        self.refused(3, "--file", "/nonexistent.xml")
        self.refused(3, "--file", "-", stdin="quiet splash\n")
        self.refused(3, "--file", "-", stdin="<network/>")


if __name__ == "__main__":
    unittest.main()
