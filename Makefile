# hvtune: `make run` and `make test` do everything on a fresh Debian, set-up included.
BUILD := build
HVTUNE := $(BUILD)/src/cli/hvtune
PREFIX ?= /usr/local
SIMULATIONS := $(addprefix tests/sim/,place_tables place_churn stat_one stat_two stat_rest stat_choose study_race study_wrong study_published)

.PHONY: all run test bench sim install clean setup format capture-test lab lab-shell

# The program only: meson counts what tests run among what is built without a target.
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) src/cli/hvtune

# Installs what is missing (as root or with sudo); does nothing when all is there.
setup:
	@tools/setup build

$(BUILD)/build.ninja: | setup
	@meson setup --prefix=$(PREFIX) $(BUILD) >/dev/null

# The main job on this very machine: what is wrong with it, its shape, and in three minutes which of its settings suit a real
# workload; nothing is left changed. Findings and an answer that is not sure are no failure of make.
run: all
	@$(HVTUNE) check || [ $$? -eq 1 ]
	@echo
	@$(HVTUNE) show topology
	@echo
	@if [ "$$(id -u)" -eq 0 ]; then \
	    $(HVTUNE) tune --minutes 3 --yes --store $(BUILD)/results.db -- xz; [ $$? -le 1 ] && \
	    $(HVTUNE) report --store $(BUILD)/results.db --output $(BUILD)/report.html last && \
	    echo "The report: $(BUILD)/report.html"; \
	else echo "As root it goes on to try settings with a real workload, and puts them back: sudo make run"; fi

test:
	@tools/setup test
	@tests/run

bench: all
	@tools/setup bench
	@tests/bench

# The tables that placing and the statistics are judged by, whole (ten minutes); a short run is in `make test`.
sim: all
	@ninja -C $(BUILD) $(SIMULATIONS) >/dev/null
	@set -e; for simulation in $(SIMULATIONS); do $(BUILD)/$$simulation; done

install: all
	@meson install -C $(BUILD) --no-rebuild

format:
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

# Adds this machine, or the one of HOST=, to the corpus: make capture-test NAME=epyc-9654 [HOST=DIR|ARCHIVE]
capture-test: all
	@test -n "$(NAME)" || { echo "usage: make capture-test NAME=machine [HOST=DIR|ARCHIVE]" >&2; exit 2; }
	@mkdir -p tests/hosts/captures
	@$(HVTUNE) capture $(if $(HOST),--host "$(HOST)") -o "tests/hosts/captures/$(NAME).tar.xz"
	@tests/hosts/renew "$(NAME)"
	@cat "tests/hosts/expected/$(NAME)/check.txt"

lab:
	@tests/lab/lab suite all

lab-shell:
	@tests/lab/lab shell

clean:
	@rm -rf build build-*
