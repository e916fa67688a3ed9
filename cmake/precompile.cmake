# ration_precompile(target header...): headers of libraries, never our own, are parsed once per target.
function(ration_precompile target)
  if(RATION_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
