# SPDX-License-Identifier: BSD-2-Clause
#
# make            the library in both precisions: build/lib/libceedlike.so.0, libceedlike_f32.so.0
# make demo       a solver in C, driven from Python: examples/heat
# make test       the tests in C and in Python
# make check      what every change must pass: format, two compilers, sanitizers, valgrind, the
#                 examples, and the tests against a wheel in an empty environment
# make fuzz       invented tensors, FUZZ_SECONDS for each program; needs clang
# make format     lay out the sources in C and Python, and write include/ceedlike_names.h
# make install    libraries, headers and pkg-config files (PREFIX, LIBDIR, INCLUDEDIR, DESTDIR)
# make uninstall  remove them
# make clean      remove build/; the virtual environment stays (rm -r .venv)
#
# CC=clang               another compiler, in a folder of its own: build/clang
# SAN=address,undefined  sanitizers, in build/cc-address,undefined; `make test` is then C only
# CFLAGS=-O0             other flags; what they change is rebuilt
# PYTHON=python3.12      the Python, 3.11 or newer, to begin with
# VENV=DIR               where the virtual environment lies: .venv
# VENV=0                 none: the Python at hand, nothing installed, nothing fetched
# V=1                    show every command

CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
VENV ?= .venv

# Each flavour has its folder: build, build/clang, build/cc-thread, …
empty :=
comma := ,
COMPILER := $(subst $(empty) ,-,$(notdir $(CC)))
FLAVOUR := $(if $(SAN),$(COMPILER)-$(SAN),$(filter-out cc gcc,$(COMPILER)))
BUILD ?= build$(FLAVOUR:%=/%)

# In a checkout a warning is an error; a release must build with compilers yet to come.
WARNINGS = -Wall -Wextra -Wpedantic $(if $(wildcard .git),-Werror)
SANITIZE = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
COMPILE = $(CC) -std=c99 $(WARNINGS) -fPIC -pthread $(CFLAGS) $(SANITIZE) -Iinclude -Icsrc \
          $(CPPFLAGS) -MMD -MP -c
OURS = -fvisibility=hidden -fno-semantic-interposition
LINK = $(CC) -pthread $(CFLAGS) $(SANITIZE) $(LDFLAGS)
LIBS = -lm -ldl

.DEFAULT_GOAL := lib
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: lib demo test test-c test-python check check-format check-wheel fuzz format venv \
        install uninstall clean always

# The beginning of a command: its short form is shown, or with V=1 the command itself.
say = $(if $(V),,@echo '  $1' && )

# The end of a command that tells only the one who has to mend it.
quietly = >$@.log 2>&1 || { cat $@.log; exit 1; }

# Write a file only when its text changes: what depends on it is then made again, and only then.
keep = @mkdir -p $(@D) && printf '%s\n' $1 >$@.new && \
       if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# ---- The library ---------------------------------------------------------------------------------

SOURCES := $(sort $(wildcard csrc/*.c csrc/fem/*.c))
OBJECTS := $(SOURCES:csrc/%.c=%.o)

lib: $(BUILD)/lib/libceedlike.so.0 $(BUILD)/lib/libceedlike_f32.so.0

CC_VERSION = $(shell LC_ALL=C $(CC) --version 2>/dev/null | head -n 1)
$(BUILD)/flags: always
	$(if $(CC_VERSION),,@CC='$(CC)' sh scripts/preflight.sh compiler)
	$(call keep,'$(CC_VERSION)' '$(COMPILE) $(OURS)' '$(LINK) $(LIBS)')
$(BUILD)/sources: always
	$(call keep,$(SOURCES))

# What only ceed.c tells: the revision, and how it was compiled, without this machine's paths.
REVISION = $(shell git --git-dir=.git describe --always --dirty 2>/dev/null || echo unknown)
CONFIG = CC = $(CC_VERSION)\nCFLAGS = $(foreach f,$(CFLAGS) $(SANITIZE),$(if $(findstring /,$f),,$f))
$(BUILD)/config.h: always
	$(call keep,'#define CEEDLIKE_GIT_VERSION "$(REVISION)"' \
	  '#ifdef CEEDLIKE_SINGLE' '#define CEEDLIKE_BUILD_CONFIG "$(CONFIG)\nCeedScalar = float"' \
	  '#else' '#define CEEDLIKE_BUILD_CONFIG "$(CONFIG)\nCeedScalar = double"' '#endif')

# The rules of one precision. $1: its folder; $2: its library; $3: its flag.
define precision
$(BUILD)/$1/%.o: csrc/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC $$@)$$(COMPILE) $(OURS) $3 $$< -o $$@
$(BUILD)/$1/fem/contract.o: private CFLAGS += -ffp-contract=fast
$(BUILD)/$1/ceed.o: private CPPFLAGS += -include $(BUILD)/config.h
$(BUILD)/$1/ceed.o: $(BUILD)/config.h

$(BUILD)/lib/lib$2.so.0: $(OBJECTS:%=$(BUILD)/$1/%) $(BUILD)/flags $(BUILD)/sources
	@mkdir -p $$(@D)
	$$(call say,LD $$@)$$(LINK) -shared -Wl,-soname,lib$2.so.0 -Wl,-z,nodelete \
	  -Wl,-Bsymbolic-functions $$(filter %.o,$$^) $$(LIBS) -o $$@
	@ln -sf lib$2.so.0 $(BUILD)/lib/lib$2.so

$(BUILD)/tests/$1/%.o: tests/c/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC $$@)$$(COMPILE) $3 $$< -o $$@
$(BUILD)/tests/$1/%: $(BUILD)/tests/$1/%.o $(BUILD)/lib/lib$2.so.0
	$$(call say,LD $$@)$$(LINK) $$< -o $$@ $$(TEST_LIBS) -l$2

# A program written for libCEED, and the library with a device that a fake stands for.
$(BUILD)/tests/$1/test_compat.o: private CPPFLAGS += -Iinclude/compat
$(BUILD)/tests/$1/test_mirror: $(addprefix $(BUILD)/tests/$1/,test_mirror.o fake_device.o) \
                               $(addprefix $(BUILD)/$1/,$(filter-out device.o,$(OBJECTS)))
	$$(call say,LD $$@)$$(LINK) $$^ -o $$@ $$(LIBS)
endef
$(eval $(call precision,f64,ceedlike))
$(eval $(call precision,f32,ceedlike_f32,-DCEEDLIKE_SINGLE))

# One program that uses both precisions.
$(BUILD)/tests/both/test_both: $(BUILD)/tests/f64/test_both.o $(BUILD)/tests/f32/test_both_f32.o \
                               $(BUILD)/lib/libceedlike.so.0 $(BUILD)/lib/libceedlike_f32.so.0
	@mkdir -p $(@D)
	$(call say,LD $@)$(LINK) $(filter %.o,$^) -o $@ $(TEST_LIBS) -lceedlike -lceedlike_f32

-include $(wildcard $(patsubst %,$(BUILD)/%/*.d,f64 f64/fem f32 f32/fem tests/f64 tests/f32))

# ---- Tests ---------------------------------------------------------------------------------------

# test_alloc brings its own malloc, as sanitizers and valgrind do.
TESTS := $(filter-out $(if $(SAN)$(VALGRIND),test_alloc), \
           $(notdir $(basename $(wildcard tests/c/test_*.c))))
SINGLE_TESTS := $(filter-out test_both test_both_f32,$(TESTS))
PROGRAMS := $(foreach folder,f64 f32,$(addprefix $(BUILD)/tests/$(folder)/,$(SINGLE_TESTS))) \
            $(addprefix $(BUILD)/tests/both/,$(filter test_both,$(TESTS)))
TEST_LIBS = -L$(BUILD)/lib -Wl,-rpath,'$$ORIGIN/../../lib' $(LIBS)

# The thread sanitizer of older compilers cannot bear the address layout of newer kernels.
RUNNER = $(strip $(VALGRIND) $(if $(findstring thread,$(SAN)), \
           $(shell setarch -R true 2>/dev/null && echo setarch -R)))

test-c: $(PROGRAMS)
	@if command -v prove >/dev/null; then prove -j $$(nproc) -e '$(RUNNER)' $^; \
	else for program in $^; do echo "$$program"; $(RUNNER) ./$$program || exit 1; done; fi

test:
	@$(PREFLIGHT) >/dev/null
	@+$(MAKE) --no-print-directory test-c
ifndef SAN
	@+$(MAKE) --no-print-directory test-python
endif

# Inputs that clang's fuzzer invents, against the whole library under sanitizers.
FUZZ_SECONDS ?= 60
FUZZ = clang -std=gnu99 $(WARNINGS) -O1 -g -fsanitize=fuzzer,address,undefined \
       -fno-sanitize-recover=all -Iinclude -Icsrc
build/fuzz/%: tests/fuzz/%.c $(SOURCES) $(wildcard csrc/*.h include/*.h tests/fuzz/*.h)
	@mkdir -p $@.corpus
	$(call say,CC $@)$(FUZZ) $< $(SOURCES) $(LIBS) -o $@
fuzz: $(patsubst tests/%.c,build/%,$(wildcard tests/fuzz/*.c))
	@cd build/fuzz && for f in $(^F); do echo "  FUZZ $$f, $(FUZZ_SECONDS) s"; \
	  ./$$f -max_total_time=$(FUZZ_SECONDS) $$f.corpus >$$f.log 2>&1 || { cat $$f.log; exit 1; }; done

# ---- Python --------------------------------------------------------------------------------------

# What the package is built from: its files, and the list of them.
PACKAGE := setup.py ffibuilder.py pyproject.toml Makefile $(sort $(shell \
             find csrc include pyceedlike -path pyceedlike/include -prune -o -name '*.[ch]' -print \
               -o -name '*.py' -print -o -name '*.pyi' -print -o -name py.typed -print 2>/dev/null))
build/package: always
	$(call keep,$(PACKAGE))

PREFLIGHT = CC='$(CC)' PYTHON='$(PYTHON)' sh scripts/preflight.sh \
            $(if $(filter 0,$(VENV)),modules,venv)

ifeq ($(VENV),0)
INSTALLED = build/python/.built
HAVE =
PYTHON_HERE = python=$$($(PREFLIGHT)) && \
              export PYTHONPATH="$(CURDIR)/build/python$${PYTHONPATH:+:$$PYTHONPATH}"
else
INSTALLED = $(VENV)/.installed
HAVE = $(VENV)/.have-$1
PYTHON_HERE = python=$(VENV)/bin/python
endif
export PIP_DISABLE_PIP_VERSION_CHECK = 1

venv: $(VENV)/.have-build

$(VENV)/.made:
	@python=$$($(PREFLIGHT)) && echo "  VENV $(VENV)" && "$$python" -m venv $(VENV) && touch $@

have = @echo '  PIP  what pyproject.toml lists for $1' && \
       $(VENV)/bin/python scripts/requirements.py $1 >$@.txt && \
       $(VENV)/bin/pip install -q -r $@.txt && touch $@
$(VENV)/.have-build: pyproject.toml scripts/requirements.py | $(VENV)/.made
	$(call have,build)
$(VENV)/.have-%: pyproject.toml scripts/requirements.py | $(VENV)/.have-build
	$(call have,$*)
$(VENV)/.installed: $(PACKAGE) build/package | $(VENV)/.have-build
	@echo '  PIP  pyceedlike'
	@rm -rf build/lib.*
	@$(VENV)/bin/pip install -q --no-deps --no-build-isolation --force-reinstall . && touch $@
build/python/.built: $(PACKAGE) build/package
	@mkdir -p $(@D) && find $(@D) -name '*.py' -delete
	@python=$$($(PREFLIGHT)) && echo '  PY   build/python' && { "$$python" setup.py \
	  egg_info --egg-base $(@D) build --build-lib $(@D) $(quietly); } && touch $@

# PYTHONSAFEPATH: no test may import the unbuilt package of this folder.
test-python: $(INSTALLED) | $(call HAVE,test)
	@$(PYTHON_HERE) && export PYTHONSAFEPATH=1 && \
	  if "$$python" -c 'import numpy, pytest'; then "$$python" -m pytest $(PYTEST_ARGS); \
	  else echo "tests/python skipped: $$python lacks what they cannot do without"; fi

# The solver links the library inside the package, as a user's would.
build/examples/heat/libheat.so: examples/heat/heat.c examples/heat/heat.h $(INSTALLED)
	@mkdir -p $(@D)
	$(call say,CC $@)$(PYTHON_HERE) && \
	  package=$$("$$python" -P -c 'import pyceedlike; print(pyceedlike.__path__[0])') && \
	  $(CC) -std=c99 $(WARNINGS) $(CFLAGS) -fPIC -shared $< -o $@ -I"$$package/include/ceedlike" \
	    -L"$$package/lib" -Wl,-rpath,"$$package/lib" -l:libceedlike.so.0 -lm
demo: build/examples/heat/libheat.so | $(call HAVE,demo)
	@$(PYTHON_HERE) && HEAT_LIBRARY=$(CURDIR)/$< \
	  "$$python" examples/heat/heat.py --output build/heat.png

# ---- Checks --------------------------------------------------------------------------------------

C_FILES := $(filter-out include/ceedlike_names.h,$(sort $(shell \
             find csrc include pyceedlike tests examples benchmarks -path pyceedlike/include -prune \
               -o -name '*.[ch]' -print 2>/dev/null)))
TOOL = $(VENV)/bin/

format: $(VENV)/.have-dev
	$(TOOL)python scripts/names.py
	$(TOOL)clang-format -i $(C_FILES)
	$(TOOL)ruff format -q
	$(TOOL)ruff check -q --fix

check-format: $(VENV)/.have-dev
	$(TOOL)python scripts/names.py --check
	$(TOOL)clang-format --dry-run --Werror $(C_FILES)
	$(TOOL)ruff format -q --diff
	$(TOOL)ruff check

# The wheel made from the sdist, in an empty environment, under the tests that the sdist carries.
check-wheel: $(VENV)/.have-build
	@rm -rf build/wheel
	@mkdir -p build/wheel
	@$(TOOL)python setup.py sdist -d build/wheel $(subst $@,build/wheel/sdist,$(quietly))
	$(TOOL)pip wheel -q --no-deps -w build/wheel build/wheel/*.tar.gz
	$(TOOL)python -m venv build/wheel/venv
	build/wheel/venv/bin/pip install -q "$$(ls build/wheel/*.whl)[test,demo]"
	tar -xf build/wheel/*.tar.gz -C build/wheel
	cd build/wheel/pyceedlike-*/ && PYTHONSAFEPATH=1 ../venv/bin/python -m pytest

MEMCHECK = valgrind -q --leak-check=full --error-exitcode=9
step = @printf '\n== %s\n' '$1' && $2
sub = +$(call step,$1,$(MAKE) --no-print-directory $1)

check:
	@$(PREFLIGHT) clang >/dev/null
	$(call sub,check-format)
	$(call sub,test-c CC=gcc)
	$(call sub,test-c CC=clang)
	$(call sub,test-c SAN=address$(comma)undefined)
	$(call sub,test-c SAN=thread)
	$(if $(shell command -v valgrind),$(call sub,test-c VALGRIND='$(MEMCHECK)'),\
	  @echo 'valgrind skipped: it is not installed')
	$(call sub,fuzz FUZZ_SECONDS=10)
	$(call sub,demo)
	$(call sub,check-wheel)

# ---- Installation --------------------------------------------------------------------------------

HEADERS := $(sort $(shell cd include && find . -name '*.h' -printf '%P\n'))
VERSION := $(shell sed -n 's/^.define CEED_VERSION_[MP][A-Z]* \([0-9]*\)$$/\1/p' \
             include/ceedlike.h | paste -sd.)

INSTALL_LIB = $(DESTDIR)$(LIBDIR)
INSTALL_INCLUDE = $(DESTDIR)$(INCLUDEDIR)/ceedlike

# The lines of a pkg-config file. $1: the library; $2: what a program is compiled with besides.
pkgconfig = 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)/ceedlike' '' \
  'Name: $1' 'Description: vectors shared between C solvers and array libraries' \
  'Version: $(VERSION)' 'Cflags: -I$${includedir}$2' 'Libs: -L$${libdir} -l$1'

install: lib
	install -d $(INSTALL_LIB)/pkgconfig $(addprefix $(INSTALL_INCLUDE)/,$(sort $(dir $(HEADERS))))
	install -m 755 $(BUILD)/lib/libceedlike.so.0 $(BUILD)/lib/libceedlike_f32.so.0 $(INSTALL_LIB)
	ln -sf libceedlike.so.0 $(INSTALL_LIB)/libceedlike.so
	ln -sf libceedlike_f32.so.0 $(INSTALL_LIB)/libceedlike_f32.so
	for h in $(HEADERS); do install -m 644 include/$$h $(INSTALL_INCLUDE)/$$h || exit 1; done
	printf '%s\n' $(call pkgconfig,ceedlike) >$(INSTALL_LIB)/pkgconfig/ceedlike.pc
	printf '%s\n' $(call pkgconfig,ceedlike_f32, -DCEEDLIKE_SINGLE) \
	  >$(INSTALL_LIB)/pkgconfig/ceedlike_f32.pc

uninstall:
	rm -f $(foreach l,ceedlike ceedlike_f32,$(INSTALL_LIB)/lib$l.so $(INSTALL_LIB)/lib$l.so.0 \
	  $(INSTALL_LIB)/pkgconfig/$l.pc)
	rm -rf $(INSTALL_INCLUDE)

clean:
	rm -rf build pyceedlike/lib pyceedlike/include pyceedlike/*.so *.egg-info
