"""The native frames of training runs, leaf first, as the CUDA memory recorder writes them: (function, file)."""

RECORDER = [("torch::unwind::unwind()", "??"), ("torch::CapturedTraceback::gather(bool, bool, bool)", "??"),
            ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp")]
MALLOC = RECORDER + [
    ("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)", "CUDACachingAllocator.cpp"),
    ("c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)", ""),
    ("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet, c10::ScalarType)", "??"),
    ("at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", "??")]
FREE = RECORDER + [
    ("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::free(c10::cuda::CUDACachingAllocator::Native::Block*)",
     "CUDACachingAllocator.cpp"),
    ("c10::TensorImpl::~TensorImpl() [clone .localalias]", "TensorImpl.cpp")]
ENGINE = [("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, torch::autograd::Node*)", "??"),
          ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "??"),
          ("torch::autograd::python::PythonEngine::thread_init(int, std::shared_ptr<torch::autograd::ReadyQueue> const&)", ""),
          ("pthread_condattr_setpshared", "??"), ("__clone", "??")]
END = [("PyEval_EvalCode", "??"), ("Py_BytesMain", "??"), ("__libc_start_main", "??"), ("_start", "??")]
