// A run in a file: HDF5 with the state, the history, and what the run was of, which a run that goes on must be too.
#pragma once
#include <rlx/splat/train.hpp>

#include <map>
#include <string>

#include "splat/train/state.hpp"

namespace rlx::splat::train {

struct Checkpoint {
  State state;
  std::vector<HistoryEntry> history;
  double pending_loss = 0;  ///< Sum since the last entry.
};

/// The arrays of a file by their names.
using Datasets = std::map<std::string, HostTensor>;
inline constexpr const char* digest_name = "/digest";
/// What a checkpoint holds under that name: a hash of the names, types, shapes and elements of all others.
HostTensor digest_of(const Datasets& sets);

void write_checkpoint(const std::string& path, const Checkpoint& c, const TrainOptions& resolved,
                      const Capture& capture);
/// Throws FormatError where the file is none, was changed since it was written, or holds arrays that fit neither each
/// other nor the run; ArgumentError, naming the file, the option and both values, where it is of another run.
Checkpoint read_checkpoint(const std::string& path, const TrainOptions& resolved, const Capture& capture);

}  // namespace rlx::splat::train
