#pragma once

#include <string_view>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {

/// What a frame says of the block that it allocates, wherever it is in the stack: a part of its function's name and
/// of its file. A workspace outweighs all else, then optimizer state; a parameter outlives the part of the loop that
/// allocated it. roles.cpp knows the phase of a stack, its time and its size.
struct RoleRule {
  Role role;
  std::string_view function;
  std::string_view file;
};

inline constexpr RoleRule kRoleRules[] = {
    {Role::workspace, "at::cuda::getNewWorkspace", ""},             // cuBLAS
    {Role::workspace, "getCUDABlasLtWorkspace", ""},                //
    {Role::workspace, "raw_cudnn_convolution", ""},                 // cuDNN's, within the call
    {Role::workspace, "ncclCommInit", ""},                          // NCCL
    {Role::workspace, "", "torch/cuda/graphs.py"},                  // capture
    {Role::gradient, "foreach_reduce", "torch/distributed/fsdp/"},  // what a rank keeps of the sum over all
    {Role::optimizer_state, "load_state_dict", "torch/optim/"},     // moves what a checkpoint holds
    // Buckets of DistributedDataParallel, which are the gradients where those are views of them.
    {Role::autograd_detail, "_pre_forward", "torch/nn/parallel/distributed.py"},
    {Role::autograd_detail, "_ddp_init_helper", "torch/nn/parallel/distributed.py"},
    {Role::parameter, "__init__", "torch/nn/modules/"},          //
    {Role::parameter, "__deepcopy__", "torch/nn/parameter.py"},  // averages of weights, teachers
    {Role::parameter, "_apply", "torch/nn/modules/module.py"},   // Module.to()
    {Role::parameter, "load_state_dict", ""},                    //
    {Role::parameter, "from_pretrained", ""},                    // transformers
    {Role::parameter, "init_weight", ""},                        // FlexGen
};

/// Requested bytes of what cuBLAS takes for each thread that calls it and stream: its default of two buffers of 4 MiB
/// and eight of 16 KiB, from Hopper on eight of 4 MiB. It is recognised by its size where native frames or the whole
/// stack are not recorded. Every real file at hand has one, those with a backward pass two.
inline constexpr std::int64_t kCublasWorkspace = 8'519'680;
inline constexpr std::int64_t kHopperWorkspace = 33'554'432;  ///< tensors have that size as well
constexpr bool is_cublas_size(std::int64_t requested) {
  return requested == kCublasWorkspace || requested == kHopperWorkspace;
}

}  // namespace snapdiff::cuda
