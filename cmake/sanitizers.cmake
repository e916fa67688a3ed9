if(RATION_SANITIZE)
  add_compile_options(-fsanitize=${RATION_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RATION_SANITIZE})
endif()
