// SPDX-License-Identifier: Apache-2.0
//
// Mutants of seeds: the operator as the reference draws it, with another seed.

#include "backends/faulty/mutants.h"
#include "backends/reference/families.h"

namespace assay::faulty {
namespace {

class Seeds : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::Bernoulli& op, LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::Dropout& op, LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::Multinomial& op, LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::RandomNormal& op, LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::RandomNormalLike& op,
                       LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::RandomUniform& op,
                       LoadContext& load) override {
    return Seeded(op, load);
  }
  Result<Kernel> Visit(const op::RandomUniformLike& op,
                       LoadContext& load) override {
    return Seeded(op, load);
  }

 private:
  template <class Op>
  Result<Kernel> Seeded(Op op, LoadContext& load) {
    const auto& settings = load.options().settings;
    const auto setting = settings.find("mutant");
    const Mutant* mutant =
        setting == settings.end() ? nullptr : FindMutant(setting->second);
    if (mutant != nullptr && mutant->seeds == SeedFault::kConstant) op.seed = 0;
    if (mutant != nullptr && mutant->seeds == SeedFault::kIgnored) {
      op.seed.reset();
    }
    return right_->Visit(op, load);
  }

  std::unique_ptr<OperatorVisitor> right_ = reference::RandomFamily();
};

}  // namespace

std::unique_ptr<OperatorVisitor> SeedFamily() {
  return std::make_unique<Seeds>();
}

}  // namespace assay::faulty
