// A run in a file: HDF5 with the state, the history, and what the run was of, which a run that goes on must be too.
#pragma once
#include <rlx/splat/train.hpp>

#include <string>

#include "splat/train/state.hpp"

namespace rlx::splat::train {

struct Checkpoint {
  State state;
  std::vector<HistoryEntry> history;
  double pending_loss = 0;  ///< Sum since the last entry.
};

void write_checkpoint(const std::string& path, const Checkpoint& c, const TrainOptions& resolved,
                      const Capture& capture);
/// Throws FormatError where the file is none, was changed since it was written, or holds arrays that fit neither each
/// other nor the run; ArgumentError, naming the file, the option and both values, where it is of another run.
Checkpoint read_checkpoint(const std::string& path, const TrainOptions& resolved, const Capture& capture);

}  // namespace rlx::splat::train
