# Fuzz targets of formats/pickle and formats/torch_cuda; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(pickle_fuzz ${CMAKE_CURRENT_LIST_DIR}/pickle_fuzz.cpp pickle
  snapdiff_pickle)
snapdiff_fuzzer(torch_cuda_fuzz ${CMAKE_CURRENT_LIST_DIR}/torch_cuda_fuzz.cpp
  torch_cuda snapdiff_torch_cuda snapdiff_cuda)
