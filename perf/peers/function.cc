// SPDX-License-Identifier: Apache-2.0

#include "perf/peers/function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradcheck/case/subject.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck::peers {
namespace {

void Append(const Numbers& more, Numbers* all, std::vector<Block>* blocks) {
  blocks->push_back({all->size(), all->size() + more.size()});
  all->insert(all->end(), more.begin(), more.end());
}

Numbers Part(const Numbers& all, Block block) {
  return {all.begin() + static_cast<int64_t>(block.begin),
          all.begin() + static_cast<int64_t>(block.end)};
}

}  // namespace

Result<Function> Function::Load(Backend& backend,
                                const suite::Subject& subject) {
  ASSAY_ASSIGN_OR_RETURN(Trial trial, Trial::Load(backend, subject));
  Function f(std::move(trial));
  for (size_t t = 0; t < subject.targets.size(); ++t) {
    ASSAY_ASSIGN_OR_RETURN(const Numbers numbers, f.trial_.NumbersOf(t));
    Append(numbers, &f.x_, &f.inputs_);
  }
  f.flows_ = CarryingOutputs(*subject.model);
  ASSAY_RETURN_IF_ERROR(f.trial_.Forward());
  Numbers y;
  for (size_t i = 0; i < f.flows_.size(); ++i) {
    if (!f.flows_[i]) continue;
    const Tensor& output = *f.trial_.outputs()[i].tensor();
    f.type_ = output.dtype();
    Append(NumbersOf(output), &y, &f.outputs_);
  }
  return f;
}

Result<Numbers> Function::At(const Numbers& x) {
  for (size_t t = 0; t < inputs_.size(); ++t) {
    ASSAY_RETURN_IF_ERROR(trial_.Put(t, Part(x, inputs_[t])));
  }
  ASSAY_RETURN_IF_ERROR(trial_.Forward());
  Numbers y;
  std::vector<Block> ignored;
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (!flows_[i]) continue;
    Append(NumbersOf(*trial_.outputs()[i].tensor()), &y, &ignored);
  }
  return y;
}

Result<Numbers> Function::Backward(const Numbers& dy, int absent) {
  std::vector<Value> cotangents(flows_.size());
  size_t at = 0;
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (!flows_[i]) continue;
    const Block block = outputs_[at++];
    if (static_cast<int>(at) - 1 == absent) continue;
    ASSAY_ASSIGN_OR_RETURN(
        cotangents[i], Tensor::Of<double>(trial_.outputs()[i].tensor()->shape(),
                                          Part(dy, block)));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> gradients,
                         trial_.Backward(cotangents, trial_.targets()));
  Numbers dx;
  std::vector<Block> ignored;
  for (const Value& gradient : gradients) {
    Append(NumbersOf(*gradient.tensor()), &dx, &ignored);
  }
  return dx;
}

Result<Numbers> CentralDifference(Function& f, const Numbers& direction,
                                  double step) {
  Numbers above = f.x(), below = f.x();
  for (size_t i = 0; i < direction.size(); ++i) {
    above[i] += step * direction[i];
    below[i] -= step * direction[i];
  }
  ASSAY_ASSIGN_OR_RETURN(Numbers slope, f.At(above));
  ASSAY_ASSIGN_OR_RETURN(const Numbers low, f.At(below));
  ASSAY_RETURN_IF_ERROR(f.At(f.x()).status());
  for (size_t j = 0; j < slope.size(); ++j) {
    slope[j] = (slope[j] - low[j]) / (2 * step);
  }
  return slope;
}

Status CheckJacobian(const Function& f) {
  const size_t n = f.x().size() * f.n_out();
  if (n <= kMostOfJacobian) return OkStatus();
  return Unsupported(Reason::kReader, "a Jacobian of ", n, " elements");
}

Result<bool> JacobiansAgree(
    Function& f, double step,
    const std::function<bool(double analytic, double numeric)>& agree) {
  ASSAY_RETURN_IF_ERROR(CheckJacobian(f));
  struct Entry {
    size_t column;
    double slope;
  };
  // By output; zeros are left out, since large Jacobians are sparse.
  std::vector<std::vector<Entry>> rows(f.n_out());
  Numbers x = f.x();
  for (size_t i = 0; i < x.size(); ++i) {
    const double own = x[i];
    x[i] = own + step;
    ASSAY_ASSIGN_OR_RETURN(const Numbers above, f.At(x));
    x[i] = own - step;
    ASSAY_ASSIGN_OR_RETURN(const Numbers below, f.At(x));
    x[i] = own;
    for (size_t j = 0; j < above.size(); ++j) {
      const double slope = (above[j] - below[j]) / (2 * step);
      if (slope != 0) rows[j].push_back({i, slope});
    }
  }
  ASSAY_RETURN_IF_ERROR(f.At(f.x()).status());
  Numbers dy(f.n_out(), 0), numeric(x.size());
  for (size_t j = 0; j < rows.size(); ++j) {
    dy[j] = 1;
    ASSAY_ASSIGN_OR_RETURN(const Numbers analytic, f.Backward(dy));
    dy[j] = 0;
    std::ranges::fill(numeric, 0);
    for (const Entry& entry : rows[j]) numeric[entry.column] = entry.slope;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!agree(analytic[i], numeric[i])) return false;
    }
  }
  return true;
}

}  // namespace assay::gradcheck::peers
