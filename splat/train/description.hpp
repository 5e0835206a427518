// What a run is of: its options and its capture as a text, an option a line, for checkpoints to hold and to compare.
#pragma once
#include <rlx/splat/train.hpp>

#include <string>

namespace rlx::splat::train {

/// Every option but the device, and hashes of cameras, poses, images and points.
std::string description_of(const TrainOptions& resolved, const Capture& capture);
/// Throws ArgumentError, which begins with `path` and has both lines, where two descriptions differ.
void compare_descriptions(const std::string& path, const std::string& stored, const std::string& wanted);

/// FNV-1a, of words instead of bytes.
inline constexpr std::uint64_t first_hash = 0xcbf29ce484222325u;
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) { return (hash ^ more) * 0x100000001b3u; }

}  // namespace rlx::splat::train
