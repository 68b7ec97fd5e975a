# make            the tool build/bin/gable, the library build/lib/libgable.a and .so
# make demo       solves a real matrix that ships with the project
# make check      all tests that this machine can run
# make layers     builds the library and checks that no file includes or calls a higher layer (needs python3)
# make mutants    plants known faults in a copy, one at a time: some test must fail (MUTANTS="name ..."; docs/testing.md)
# make fuzz       a million mangled inputs for each reader (FUZZ_RUNS, FUZZ_SEED)
# make libfuzzer  the same number that libFuzzer steers by coverage, under sanitizers (FUZZ_SEED; needs clang: FUZZ_CLANG, FUZZ_CFLAGS, FUZZ_FLAGS)
# make bench      the speed tables (needs the reference solvers: see docs/benchmarks.md)
# make bench-trisolve   triangular solves on the CPU, beside MKL
# make bench-forest     star forests on the CPU, beside PETSc
# make install    DESTDIR, PREFIX (/usr/local) and LIB (lib); make uninstall takes the same files away
# make docs       the pages of the public headers, in build/docs (needs doxygen)
# Variables: CC, BUILD (build), DEBUG=yes, SAN (address,undefined or thread), WERROR=yes, CUDA=yes, and METIS, SUITESPARSE,
# ZLIB, CJSON, OPENMP, BLAS (an OpenBLAS opened at run time), NCCL, NVSHMEM (likewise), MPI (the program gable-mpi) = yes, no or auto; what parts a build has stays until make is told otherwise.
.DEFAULT_GOAL := all
ifeq ($(MAKELEVEL)$(findstring j,$(filter-out --%,$(MAKEFLAGS))),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
BUILD ?= build
PREFIX ?= /usr/local
LIB ?= lib
FUZZ_RUNS ?= 1000000
FUZZ_CLANG ?= clang-14
DEMO ?= examples/data/bcsstk18.mtx.gz
CC ?= cc
NVCC ?= nvcc
CUDA ?= no
export CC NVCC CUDA METIS SUITESPARSE ZLIB CJSON OPENMP BLAS NCCL NVSHMEM MPI MPICC CJSON_CFLAGS CJSON_LIBS

ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
-include $(BUILD)/config.mk
# A part that the command line wants otherwise than the last build: all are looked for again, and everything is compiled again.
otherwise = $(and $(filter command,$(origin $1)),$(filter yes no,$($1)),$(filter-out $($1),$(HAVE_$1)))
ifneq ($(strip $(foreach p,OPENMP ZLIB METIS SUITESPARSE CJSON BLAS NCCL NVSHMEM MPI CUDA,$(call otherwise,$p))),)
$(BUILD)/config.mk: look_again
.PHONY: look_again
endif
endif
$(BUILD)/config.mk: scripts/configure Makefile
	@scripts/configure $@
# What every file is compiled with.  An MPI that comes or goes concerns one file alone.
$(BUILD)/parts.mk: $(BUILD)/config.mk Makefile
	@grep -v -E '^(HAVE_)?MPI' $< >$@.new; if [ Makefile -nt $@ ] || ! cmp -s $@.new $@; then mv $@.new $@; else rm $@.new; fi

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
# Line numbers for backtraces and profiles; variables, which cost an eighth of the time to compile, with DEBUG=yes.
OPT := $(if $(filter yes,$(DEBUG)),-O1 -g,-O3 -g1)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS ?=
ALL_CFLAGS = -std=c11 $(OPT) $(WARN) $(if $(filter yes,$(WERROR)),-Werror) -fPIC -fvisibility=hidden -fno-math-errno \
	-D_POSIX_C_SOURCE=200809L -Iinclude -Isrc $(SANFLAGS) $(OPENMP_CFLAGS) $(METIS_CFLAGS) $(SUITESPARSE_CFLAGS) $(CFLAGS)
# Nothing here is timed: what is measured happens in the library.
$(BUILD)/tool/%.c.o $(BUILD)/tests/%.c.o $(BUILD)/src/api/%.c.o: OPT := -O1 $(if $(filter yes,$(DEBUG)),-g,-g1)
# Long unrolled loops, which -O3 compiles for twice as long and makes no faster.
$(BUILD)/src/kernels/panel/%.c.o: OPT := $(if $(filter yes,$(DEBUG)),-O1,-O2) -g1
# a*b + c may be one operation in the dense kernels and in substitution.
$(BUILD)/src/kernels/dense/dense.c.o $(BUILD)/src/kernels/dense/dense_ldlt.c.o $(BUILD)/src/kernels/trisolve/substitution_cpu.c.o $(BUILD)/src/kernels/trisolve/seed_cpu.c.o: OPT += -ffp-contract=fast
$(BUILD)/src/kernels/dense/blas.c.o: OPT += $(BLAS_CFLAGS)
# Short loops over short rows: where a function begins within a cache line decides up to a third of their speed.  What
# the compiler makes vectors of there, gathers and halves of four sums, takes longer than the loops written out.
$(BUILD)/src/kernels/trisolve/substitution_cpu.c.o: OPT += -falign-functions=64 -fno-tree-vectorize

LIBS = $(METIS_LIBS) $(SUITESPARSE_LIBS) $(ZLIB_LIBS) $(BLAS_LIBS) $(NCCL_LIBS) $(NVSHMEM_LIBS) $(CUDA_LIBS) $(OPENMP_CFLAGS) -lpthread -lm

# Optional parts: x.c where the library is there, x_absent.c where it is not.
OPTIONAL_ZLIB := src/sparse/file/gzip.c
OPTIONAL_METIS := src/graph/order/order_metis.c tool/parts_metis.c
OPTIONAL_SUITESPARSE := src/graph/order/order_amd.c
OPTIONAL_CJSON := tool/json.c
OPTIONAL_BLAS := src/kernels/dense/blas.c
OPTIONAL_NCCL := src/comm/nccl.c
OPTIONAL_NVSHMEM := src/comm/nvshmem.c
OPTIONAL := ZLIB METIS SUITESPARSE CJSON BLAS NCCL NVSHMEM
absent = $(wildcard $(patsubst %.c,%_absent.c,$(OPTIONAL_$1)))
without := $(foreach p,$(OPTIONAL),$(if $(filter yes,$(HAVE_$p)),$(call absent,$p),$(OPTIONAL_$p)))

# Sources are found by folder, subfolders too.
SRC := $(shell find src -name '*.c' -o -name '*.cu')
ifeq ($(HAVE_CUDA),yes)
without += $(filter %/cuda_absent.c,$(SRC)) tool/bench_solver_cusparse_absent.c tool/bench_graph_absent.c tool/bench_cudss_absent.c tool/forest_steps_gpu_absent.c tool/gpu_properties_absent.c
CUDA_SRC := $(filter %.cu,$(SRC))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(shell command -v $(NVCC)))
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt -lpthread -lstdc++
CUDA_ARCH ?= -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
CUDA_CFLAGS := -isystem $(CUDA_HOME)/include
else
without += tool/bench_solver_cusparse.c tool/bench_graph.c tool/bench_cudss.c
endif
LIB_SRC := $(sort $(filter-out $(without),$(filter %.c,$(SRC))))
# gable needs no MPI; gable-mpi is the same program with one.
TOOL_SRC := $(filter-out $(without) tool/mpi_place.c,$(wildcard tool/*.c)) $(if $(filter yes,$(HAVE_CUDA)),$(wildcard tool/*.cu))
MPI_TOOL_SRC := $(if $(filter yes,$(HAVE_MPI)),$(filter-out tool/mpi_place_absent.c,$(TOOL_SRC)) tool/mpi_place.c)
TEST_SRC := $(wildcard tests/unit/test_*.c tests/equivalence/test_*.c tests/property/test_*.c tests/fault/test_*.c tests/reference/test_*.c tests/forest/test_*.c)
CUDA_TEST_SRC := $(if $(filter yes,$(HAVE_CUDA)),$(wildcard tests/*/test_*.cu))
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
SHELL_TESTS := $(wildcard tests/*/test_*.sh)

object = $(patsubst %,$(BUILD)/%.o,$1)
LIB_OBJ := $(call object,$(LIB_SRC) $(CUDA_SRC))
TOOL_OBJ := $(call object,$(TOOL_SRC))
FUZZERS := $(FUZZ_SRC:%.c=$(BUILD)/%)
# A program of several processes that a script starts.
LOST := $(BUILD)/tests/forest/lost_rank
TESTS := $(TEST_SRC:%.c=$(BUILD)/%) $(CUDA_TEST_SRC:%.cu=$(BUILD)/%) $(FUZZERS)
STATIC := $(BUILD)/lib/libgable.a
SHARED := $(BUILD)/lib/libgable.so
TOOL := $(BUILD)/bin/gable
MPI_TOOL := $(if $(MPI_TOOL_SRC),$(BUILD)/bin/gable-mpi)

comma := ,
# V=yes shows the commands; otherwise one short line a file.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $1 $2)

.PHONY: all lib tests check mutants fuzz fuzzers libfuzzer demo bench bench-trisolve bench-forest docs layers manual clean install uninstall format help
all: $(if $(wildcard tool/gable.c),$(TOOL) $(MPI_TOOL)) $(STATIC) $(SHARED)
lib: $(STATIC) $(SHARED)
tests: $(TESTS) $(LOST)

$(BUILD)/tool/mpi_place.c.o: $(BUILD)/config.mk
$(BUILD)/%.c.o: %.c $(BUILD)/parts.mk
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter tests/%,$<),-Itests -Wno-pedantic) $(if $(filter tool/%,$<),$(CJSON_CFLAGS) $(CUDA_CFLAGS)) $(if $(filter tool/mpi_place.c,$<),$(MPI_CFLAGS)) -MMD -MP -c $< -o $@

$(BUILD)/%.cu.o: %.cu $(BUILD)/parts.mk
	@mkdir -p $(@D)
	$(call say,nvcc,$<)
	$(Q)$(NVCC) -std=c++17 -O3 -lineinfo --extended-lambda $(CUDA_ARCH) -Iinclude $(if $(filter tool/%,$<),,-Isrc) $(if $(filter tests/%,$<),-Itests) -Werror all-warnings \
		-Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Wno-missing-field-initializers,-Werror -MMD -MP -c $< -o $@

$(STATIC): $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,ar,$@)
	$(Q)$(AR) rcs $@ $^

$(SHARED): $(LIB_OBJ) scripts/gable.map
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) -shared -Wl,-soname,libgable.so.0 -Wl,--version-script=scripts/gable.map $(if $(SAN),,-Wl,-z,defs) $(SANFLAGS) \
		-o $@ $(LIB_OBJ) $(LIBS)
	@ln -sf libgable.so $(BUILD)/lib/libgable.so.0

$(TOOL): $(TOOL_OBJ) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(LIBS) $(CJSON_LIBS) -lpthread $(if $(filter yes,$(HAVE_CUDA)),-ldl -Wl$(comma)-rpath$(comma)$(CUDA_HOME)/lib64)

$(BUILD)/bin/gable-mpi: $(call object,$(MPI_TOOL_SRC)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(LIBS) $(CJSON_LIBS) $(MPI_LIBS) -lpthread $(if $(filter yes,$(HAVE_CUDA)),-ldl -Wl$(comma)-rpath$(comma)$(CUDA_HOME)/lib64)

$(BUILD)/tests/%: $(BUILD)/tests/%.c.o $(call object,$(SUPPORT_SRC)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) -o $@ $(filter-out $(STATIC),$^) $(STATIC) $(LIBS)

# The tool makes the twins of matrices that benchmarks lack.
$(BUILD)/tests/unit/test_twin: $(call object,tool/twin.c tool/twin_profile.c)
# The tool has the random forests and their serial program.
$(BUILD)/tests/forest/test_targets $(BUILD)/tests/forest/test_flagged: $(call object,tool/forest_check.c tool/forest_case.c tool/forest_oracle.c)

$(LOST): $(LOST).c.o $(call object,tool/forest_place.c $(if $(filter yes,$(HAVE_MPI)),tool/mpi_place.c,tool/mpi_place_absent.c)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(LIBS) $(MPI_LIBS)

$(CUDA_TEST_SRC:%.cu=$(BUILD)/%): $(BUILD)/%: $(BUILD)/%.cu.o $(call object,$(SUPPORT_SRC)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(LIBS)

# Each runs mutations of the corpus; with FUZZ_LINK=-fsanitize=fuzzer (clang) libFuzzer makes the inputs instead.
FUZZ_PARTS := tests/fuzz/read.c $(if $(FUZZ_LINK),,tests/fuzz/drive.c)
$(FUZZERS): $(BUILD)/%: $(BUILD)/%.c.o $(call object,$(FUZZ_PARTS)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,ld,$@)
	$(Q)$(CC) $(SANFLAGS) $(FUZZ_LINK) -o $@ $^ $(LIBS)

fuzz: $(FUZZERS)
	@for f in $(FUZZERS); do $$f $(FUZZ_RUNS) $(FUZZ_SEED) || exit 1; done

fuzzers: $(FUZZERS)

# What libFuzzer finds to be new goes to a folder of the build; it starts from that and from the corpus that is kept.  Its
# checks of unrolled kernels take clang four minutes to compile: the plain ones are looped over instead.
libfuzzer: BUILD := $(BUILD)/libfuzzer
libfuzzer:
	@$(MAKE) BUILD=$(BUILD) CC="$(FUZZ_CLANG)" SAN=address,undefined CFLAGS="-g1 -fsanitize=fuzzer-no-link -DPLAIN_LEVELS $(FUZZ_CFLAGS)" FUZZ_LINK=-fsanitize=fuzzer OPENMP=no fuzzers
	@for f in $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC)); do mkdir -p $(BUILD)/corpus/$$f && echo "libFuzzer: $$f" && \
		$(BUILD)/tests/fuzz/fuzz_$$f -runs=$(FUZZ_RUNS) -max_len=16384 -print_final_stats=1 $(FUZZ_SEED:%=-seed=%) $(FUZZ_FLAGS) \
		-artifact_prefix=$(BUILD)/ $(BUILD)/corpus/$$f tests/fuzz/corpus/$$f || exit 1; done

# The tests that are scripts find the build in BUILD and what it was made with in CC, SAN, ZLIB, CJSON and LIBS.
check: all tests
	@BUILD="$(BUILD)" CC="$(CC)" SAN="$(SAN)" ZLIB="$(HAVE_ZLIB)" CJSON="$(HAVE_CJSON)" LIBS="$(LIBS)" sh tests/run $(TESTS) $(SHELL_TESTS)

mutants: all
	@BUILD="$(BUILD)" CC="$(CC)" SAN="$(SAN)" ZLIB="$(HAVE_ZLIB)" CJSON="$(HAVE_CJSON)" LIBS="$(LIBS)" sh tests/mutants/run $(MUTANTS)

demo: all
	@$(TOOL) solve $(DEMO)

bench: all
	@BUILD="$(BUILD)" CC="$(CC)" LIBS="$(LIBS)" python3 bench/run.py $(BENCH)

bench-trisolve: all
	@BUILD="$(BUILD)" CC="$(CC)" LIBS="$(LIBS)" python3 bench/trisolve_cpu.py $(TRISOLVE)

bench-forest: all
	@BUILD="$(BUILD)" python3 bench/forest.py $(FOREST)

layers: $(LIB_OBJ)
	@python3 scripts/layers.py $(BUILD)

manual: all
	@scripts/manual $(TOOL) $(BUILD)/share

docs:
	@BUILD="$(BUILD)" scripts/pages

install: all manual
	@BUILD="$(BUILD)" PREFIX="$(PREFIX)" LIB="$(LIB)" DESTDIR="$(DESTDIR)" LIBS="$(LIBS)" scripts/install put

uninstall:
	@BUILD="$(BUILD)" PREFIX="$(PREFIX)" LIB="$(LIB)" DESTDIR="$(DESTDIR)" LIBS="$(LIBS)" scripts/install take

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.inc')

clean:
	rm -rf $(BUILD)

help:
	@sed -n '1,/^\.DEFAULT/{/^#/s/^# \{0,1\}//p}' Makefile

-include $(wildcard $(patsubst %.o,%.d,$(LIB_OBJ) $(TOOL_OBJ) $(call object,$(MPI_TOOL_SRC) $(LOST:$(BUILD)/%=%.c) $(TEST_SRC) $(CUDA_TEST_SRC) $(SUPPORT_SRC) $(FUZZ_SRC) $(FUZZ_PARTS))))
.SECONDARY:
