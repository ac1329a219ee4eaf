# hvtune: `make run` and `make test` do everything on a fresh Debian, set-up included.
BUILD := build
HVTUNE := $(BUILD)/src/cli/hvtune
PREFIX ?= /usr/local

.PHONY: all run test bench install clean setup format lab lab-shell

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

# Installs what is missing (as root or with sudo); does nothing when all is there.
setup:
	@tools/setup build

$(BUILD)/build.ninja: | setup
	@meson setup --prefix=$(PREFIX) $(BUILD) >/dev/null

# The main job on this very machine: what is wrong with it, then its shape. Findings are no failure of make.
run: all
	@$(HVTUNE) check || [ $$? -eq 1 ]
	@echo
	@$(HVTUNE) show topology

test:
	@tools/setup test
	@tests/run

bench: all
	@tools/setup bench
	@tests/bench

install: all
	@meson install -C $(BUILD) --no-rebuild

format:
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

lab:
	@tests/lab/lab suite all

lab-shell:
	@tests/lab/lab shell

clean:
	@rm -rf build build-*
