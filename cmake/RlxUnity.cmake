# rlx_unity(<target>): its files compiled RLX_UNITY_BATCH at a time, as one that includes them. Most of what a file costs is
# what its headers declare and what it instantiates of them, so that a full build takes half as long; the price is that a file
# that changes costs its batch, some seconds. Names of unnamed namespaces are therefore of the whole target: a name says what
# it is of (`spz_magic`, not `magic`). Files with options of their own are compiled alone.
# A build of all, once, is fastest in large batches: scripts/test asks for them.
set(RLX_UNITY_BATCH 4 CACHE STRING "files that are compiled together")
function(rlx_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RLX_UNITY_BATCH})
endfunction()
