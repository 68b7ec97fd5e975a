# openmpi.sh: how mpirun of Open MPI runs a test: as any user, with more ranks than cores, which then yield, and with its files in $work,
# a folder; in the folder of all that it takes otherwise, an mpirun that ends removes what another begins to make.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base="$work"
