# Installs the build tree into a fresh prefix, then configures, builds and runs a project outside against it.
#   cmake -DBUILD=<build tree> -DOUTSIDE=<its sources> -DWORK=<scratch> -DSANITIZE=<sanitizers> -P run.cmake
function(run_step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
file(REMOVE_RECURSE ${WORK})
run_step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run_step(${CMAKE_COMMAND} -S ${OUTSIDE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix ${flags})
run_step(${CMAKE_COMMAND} --build ${WORK}/build)
run_step(${WORK}/build/outside)
run_step(${WORK}/prefix/bin/ration --version)
