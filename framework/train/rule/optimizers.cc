// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/optimizers.h"

#include <algorithm>
#include <span>

#include "framework/train/rule/adam.h"
#include "framework/train/rule/adaptive.h"
#include "framework/train/rule/descent.h"

namespace assay::train {
namespace {

// Conventions that a source does not name are those of the class. A paper
// without epsilon has one here, so that an element without a gradient stays
// where it is.
constexpr Preset kPresets[] = {
    {"gradient_descent", "paper", "rate=0.01", "A. Cauchy, 1847"},
    {"gradient_descent", "pytorch", "rate=0.001", "torch.optim.SGD"},
    {"gradient_descent", "tensorflow", "rate=0.01",
     "tf.compat.v1.train.GradientDescentOptimizer"},
    {"gradient_descent", "keras", "rate=0.01", "keras.optimizers.SGD"},
    {"momentum", "paper", "rate=0.01 momentum=0.9 rate_at=inside",
     "Sutskever 2013, equations 1 and 2"},
    {"momentum", "pytorch",
     "rate=0.001 momentum=0.9 rate_at=outside first=undampened",
     "torch.optim.SGD"},
    {"momentum", "tensorflow", "rate=0.01 momentum=0.9 rate_at=outside",
     "tf.compat.v1.train.MomentumOptimizer"},
    {"momentum", "keras", "rate=0.01 momentum=0.9 rate_at=inside",
     "keras.optimizers.SGD"},
    {"momentum", "onnx",
     "rate=0.01 momentum=0.9 rate_at=outside first=undampened", "Momentum-1"},
    {"nesterov", "paper",
     "rate=0.01 momentum=0.9 rate_at=inside nesterov=ahead",
     "Sutskever 2013, equations 3 and 4"},
    {"nesterov", "pytorch",
     "rate=0.001 momentum=0.9 rate_at=outside first=undampened nesterov=folded",
     "torch.optim.SGD"},
    {"nesterov", "tensorflow",
     "rate=0.01 momentum=0.9 rate_at=outside nesterov=folded",
     "tf.compat.v1.train.MomentumOptimizer"},
    {"nesterov", "keras",
     "rate=0.01 momentum=0.9 rate_at=inside nesterov=folded",
     "keras.optimizers.SGD"},
    {"nesterov", "onnx",
     "rate=0.01 momentum=0.9 rate_at=outside first=undampened nesterov=folded",
     "Momentum-1"},
    {"adam", "paper", "rate=0.001 epsilon=1e-8", "Kingma 2015, algorithm 1"},
    {"adam", "pytorch", "rate=0.001 epsilon=1e-8", "torch.optim.Adam"},
    {"adam", "tensorflow", "rate=0.001 epsilon=1e-8 correction=rate",
     "tf.compat.v1.train.AdamOptimizer"},
    {"adam", "keras", "rate=0.001 epsilon=1e-7 correction=rate",
     "keras.optimizers.Adam"},
    {"adam", "onnx", "rate=0.001 epsilon=1e-6 correction=rate first_t=0",
     "Adam-1"},
    {"amsgrad", "paper",
     "rate=0.001 epsilon=1e-8 correction=none maximum=before",
     "Reddi 2018, algorithm 2"},
    {"amsgrad", "pytorch", "rate=0.001 epsilon=1e-8 maximum=before",
     "torch.optim.Adam"},
    {"amsgrad", "keras",
     "rate=0.001 epsilon=1e-7 correction=rate maximum=before",
     "keras.optimizers.Adam"},
    {"adamw", "paper",
     "rate=0.001 epsilon=1e-8 weight_decay=0.01 decay=by_schedule",
     "Loshchilov 2019, algorithm 2"},
    {"adamw", "pytorch",
     "rate=0.001 epsilon=1e-8 weight_decay=0.01 decay=by_rate",
     "torch.optim.AdamW"},
    {"adamw", "keras",
     "rate=0.001 epsilon=1e-7 weight_decay=0.004 decay=by_rate correction=rate",
     "keras.optimizers.AdamW"},
    {"adamw", "onnx",
     "rate=0.001 epsilon=1e-6 weight_decay=0.01 decay=after correction=rate "
     "first_t=0",
     "Adam-1"},
    {"adagrad", "paper", "rate=0.01 epsilon=1e-8", "Duchi 2011, figure 1"},
    {"adagrad", "pytorch", "rate=0.01 epsilon=1e-10", "torch.optim.Adagrad"},
    {"adagrad", "tensorflow", "rate=0.01 epsilon=0 initial=0.1",
     "tf.compat.v1.train.AdagradOptimizer"},
    {"adagrad", "keras",
     "rate=0.001 epsilon=1e-7 epsilon_at=in_root initial=0.1",
     "keras.optimizers.Adagrad"},
    {"adagrad", "onnx", "rate=0.01 epsilon=1e-6", "Adagrad-1"},
    {"adadelta", "paper", "rate=1 rho=0.95 epsilon=1e-6",
     "Zeiler 2012, algorithm 1"},
    {"adadelta", "pytorch", "rate=1 rho=0.9 epsilon=1e-6",
     "torch.optim.Adadelta"},
    {"adadelta", "tensorflow", "rate=0.001 rho=0.95 epsilon=1e-8",
     "tf.compat.v1.train.AdadeltaOptimizer"},
    {"adadelta", "keras", "rate=0.001 rho=0.95 epsilon=1e-7",
     "keras.optimizers.Adadelta"},
    {"rmsprop", "paper", "rate=0.001 rho=0.9 epsilon=1e-8",
     "Tieleman and Hinton 2012"},
    {"rmsprop", "pytorch", "rate=0.01 rho=0.99 epsilon=1e-8",
     "torch.optim.RMSprop"},
    {"rmsprop", "tensorflow",
     "rate=0.001 rho=0.9 epsilon=1e-10 epsilon_at=in_root rate_at=inside "
     "initial=1",
     "tf.compat.v1.train.RMSPropOptimizer"},
    {"rmsprop", "keras",
     "rate=0.001 rho=0.9 epsilon=1e-7 epsilon_at=in_root rate_at=inside",
     "keras.optimizers.RMSprop"},
    {"accelegrad", "paper", "rate=1 diameter=1 bound=1",
     "Levy 2018, algorithm 2"},
    {"lamb", "paper", "rate=0.001 epsilon=1e-6 weight_decay=0.01 decay=in_rule",
     "You 2020, algorithm 2"},
};

/// A word of decay that only rules with a decay of their own have.
template <class RuleSettings>
Status CheckDecay(Decay decay) {
  constexpr bool has_own = requires { RuleSettings::kDecaysItself; };
  if (has_own || decay != Decay::kInRule) return OkStatus();
  return InvalidArgument("decay: found 'in_rule', wanted ",
                         Joined(std::span(kDecayWords).first(4), " or "),
                         ": the rule has no decay of its own");
}

template <class Rule, class RuleSettings>
Result<Made> Make(std::string_view preset, std::string_view said,
                  Recipe recipe) {
  RuleSettings own;
  Settings settings;
  AddTo(&recipe, &settings);
  own.AddTo(&settings);
  ASSAY_RETURN_IF_ERROR(settings.SetAll(preset));
  ASSAY_RETURN_IF_ERROR(settings.SetAll(said));
  ASSAY_RETURN_IF_ERROR(CheckDecay<RuleSettings>(recipe.decay));
  Made made;
  made.settings = settings.Values();
  made.optimizer = std::make_unique<Rule>(std::move(recipe), own);
  return made;
}

struct Maker {
  std::string_view name;
  Result<Made> (*make)(std::string_view, std::string_view, Recipe);
};

constexpr Maker kMakers[] = {
    {"gradient_descent", Make<Descent, DescentSettings>},
    {"momentum", Make<Descent, DescentSettings>},
    {"nesterov", Make<Descent, DescentSettings>},
    {"adam", Make<Adam, AdamSettings>},
    {"amsgrad", Make<Adam, AdamSettings>},
    {"adamw", Make<Adam, AdamSettings>},
    {"adagrad", Make<AdaGrad, AdaGradSettings>},
    {"adadelta", Make<AdaDelta, AdaDeltaSettings>},
    {"rmsprop", Make<RmsProp, RmsPropSettings>},
    {"accelegrad", Make<AcceleGrad, AcceleGradSettings>},
    {"lamb", Make<Lamb, LambSettings>},
};

/// Invalid argument for settings that the library whose conventions a preset
/// has refuses, though the rule could take them.
Status CheckTaken(const Wanted& wanted, const Made& made) {
  const auto is_zero = [&](std::string_view name) {
    return std::ranges::find(made.settings,
                             std::pair(std::string(name), std::string("0"))) !=
           made.settings.end();
  };
  if (wanted.name != "nesterov" || wanted.preset != "pytorch" ||
      (is_zero("dampening") && !is_zero("momentum"))) {
    return OkStatus();
  }
  return InvalidArgument(
      "found dampening or no momentum, wanted a momentum above 0 and dampening "
      "of 0, as torch.optim.SGD does with nesterov");
}

}  // namespace

void AddTo(Recipe* recipe, Settings* settings) {
  settings->Add("rate", &recipe->rate);
  settings->Add("weight_decay", &recipe->weight_decay);
  settings->Add("decay", &recipe->decay, kDecayWords);
  settings->Add("clip_value", &recipe->clip.value);
  settings->Add("clip_norm", &recipe->clip.norm);
}

std::span<const Preset> Presets() { return kPresets; }

std::vector<std::string_view> OptimizerNames() {
  std::vector<std::string_view> names;
  for (const Maker& maker : kMakers) names.push_back(maker.name);
  return names;
}

Wanted WantedOf(std::string_view text) {
  std::string_view name = CutFront(&text, ":");
  Wanted wanted;
  wanted.name = CutFront(&name, "/");
  if (wanted.name.empty()) wanted.name = "momentum";
  if (!name.empty()) wanted.preset = name;
  wanted.settings = text;
  return wanted;
}

RunParts SplitRun(std::string_view run) {
  size_t end = run.substr(0, run.find('+')).find(':');
  for (size_t at = run.rfind(':'); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : run.rfind(':', at - 1)) {
    std::string_view name = run.substr(at + 1);
    name = name.substr(0, name.find_first_of(":/"));
    if (std::ranges::count(kMakers, name, &Maker::name) == 0) continue;
    end = at;
    break;
  }
  if (end == std::string_view::npos) return {run, ""};
  return {run.substr(0, end), run.substr(end + 1)};
}

Result<Made> MakeOptimizer(const Wanted& wanted, Recipe recipe) {
  const auto* const maker =
      std::ranges::find(kMakers, wanted.name, &Maker::name);
  if (maker == std::end(kMakers)) {
    return InvalidArgument("found the optimizer '", wanted.name, "', wanted ",
                           Joined(OptimizerNames()));
  }
  std::vector<std::string_view> presets;
  for (const Preset& preset : kPresets) {
    if (preset.optimizer != wanted.name) continue;
    if (preset.name == wanted.preset) {
      auto made =
          maker->make(preset.settings, wanted.settings, std::move(recipe));
      Status taken = made.status();
      if (taken.ok()) taken = CheckTaken(wanted, *made);
      if (!taken.ok()) return taken.WithContext(wanted.name);
      return made;
    }
    presets.push_back(preset.name);
  }
  return InvalidArgument(wanted.name, ": found the preset '", wanted.preset,
                         "', wanted ", Joined(presets));
}

}  // namespace assay::train
