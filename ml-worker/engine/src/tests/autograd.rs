//! The gradients of activations, losses and transformers against candle's autograd on its own
//! operators.

use super::*;

/// Parameters that candle differentiates by.
type Vars = BTreeMap<String, Var>;

type Made = candle_core::Result<Tensor>;

/// Compares the gradients at a batch of a state that has been trained a little; `logits`
/// computes the model from its parameters and the features.
fn check(spec: &JobSpec, data: Arc<Data>, logits: impl Fn(&Vars, &Tensor) -> Made) {
	let engine = Engine::new(&checked(spec), seed(), data).unwrap();
	let mut state = Engine::initial_state(&checked(spec), &seed(), None).unwrap();
	for step in 0..3 {
		engine.step(&mut state, step).unwrap();
	}
	let (x, y) = engine.batch(3).unwrap();
	let vars: Vars =
		state.parameters().map(|(n, t)| (n.clone(), Var::from_tensor(t).unwrap())).collect();
	let outputs = logits(&vars, &x).unwrap();
	let loss = match spec.training.loss {
		Loss::CrossEntropy => cross_entropy(&outputs, &y),
		Loss::MeanSquaredError => squared_error(&outputs, &y),
	};
	let loss = loss.unwrap();
	let grads = loss.backward().unwrap();
	let (bx, by) = batch(&engine, 3);
	let ours = gradients(spec, &bx, &by, &state);
	assert_eq!(ours.len(), vars.len());
	let theirs = |var: &Var| {
		let gradient = grads.get(var).unwrap().to_dtype(DType::F64).unwrap();
		gradient.flatten_all().unwrap().to_vec1::<f64>().unwrap()
	};
	let norm = |g: &[f64]| g.iter().map(|g| g * g).sum::<f64>().sqrt();
	let whole = vars.values().map(|var| norm(&theirs(var)).powi(2)).sum::<f64>().sqrt();
	for (name, var) in &vars {
		let (found, expected) = (&ours[name], theirs(var));
		assert_eq!(found.len(), expected.len());
		// Some gradients are 0, such as that of a key's bias, and then only rounding is left.
		let unit = norm(&expected).max(whole / 100.0);
		for (f, e) in found.iter().zip(&expected) {
			assert!((f64::from(*f) - e).abs() <= 5e-6 * unit, "{name}: {f} and {e}");
		}
	}
	let trace = engine.step(&mut state, 3).unwrap();
	assert!((trace.loss - loss.to_scalar::<f32>().unwrap()).abs() < 2e-6);
}

fn cross_entropy(logits: &Tensor, labels: &Tensor) -> Made {
	let shifted = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?;
	let total = shifted.exp()?.sum_keepdim(D::Minus1)?;
	let log_p = shifted.broadcast_sub(&total.log()?)?;
	log_p.gather(&labels.unsqueeze(1)?, 1)?.mean_all()?.neg()
}

fn squared_error(outputs: &Tensor, labels: &Tensor) -> Made {
	let (rows, cols) = outputs.dims2()?;
	let mut hot = vec![0f32; rows * cols];
	for (row, label) in hot.chunks_mut(cols).zip(labels.to_vec1::<u32>()?) {
		row[label as usize] = 1.0;
	}
	(outputs - Tensor::from_vec(hot, (rows, cols), &Device::Cpu)?)?.sqr()?.mean_all()
}

fn linear(vars: &Vars, name: &str, x: &Tensor) -> Made {
	let product = x.matmul(&vars[&format!("{name}.weight")].t()?)?;
	product.broadcast_add(&vars[&format!("{name}.bias")])
}

fn activate(activation: Activation, x: &Tensor) -> Made {
	match activation {
		Activation::Relu => x.relu(),
		Activation::Gelu => x.gelu_erf(),
		Activation::Silu => x.silu(),
		Activation::Tanh => x.tanh(),
		Activation::Sigmoid => (x.neg()?.exp()? + 1.0)?.recip(),
	}
}

#[test]
fn activations_and_losses() {
	for activation in [
		Activation::Relu,
		Activation::Gelu,
		Activation::Silu,
		Activation::Tanh,
		Activation::Sigmoid,
	] {
		for loss in [Loss::CrossEntropy, Loss::MeanSquaredError] {
			let (mut spec, data) = small_spec(vec![9, 17], ADAM);
			spec.model = Model::Mlp { hidden: vec![9, 17].try_into().unwrap(), activation };
			spec.training.loss = loss;
			check(&spec, data, |vars, x| {
				let h = activate(activation, &linear(vars, "layers.0", x)?)?;
				let h = activate(activation, &linear(vars, "layers.1", &h)?)?;
				linear(vars, "layers.2", &h)
			});
		}
	}
}

fn layer_norm(vars: &Vars, name: &str, x: &Tensor) -> Made {
	let d = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
	let s = (d.sqr()?.mean_keepdim(D::Minus1)? + 1e-5)?.sqrt()?;
	let h = d.broadcast_div(&s)?.broadcast_mul(&vars[&format!("{name}.weight")])?;
	h.broadcast_add(&vars[&format!("{name}.bias")])
}

fn rms_norm(vars: &Vars, name: &str, x: &Tensor) -> Made {
	let s = (x.sqr()?.mean_keepdim(D::Minus1)? + 1e-5)?.sqrt()?;
	x.broadcast_div(&s)?.broadcast_mul(&vars[&format!("{name}.weight")])
}

#[test]
fn rms_norms() {
	let (mut spec, data) = small_spec(vec![9], ADAM);
	let linear_of = |outputs| Layer::Linear { outputs };
	let silu = Layer::Activation { function: Activation::Silu };
	let classes = spec.dataset.classes;
	let layers = vec![linear_of(9), Layer::RmsNorm, silu, linear_of(classes)];
	let layers = layers.try_into().unwrap();
	spec.model = Model::Layers { input: Input::Numbers, layers };
	check(&spec, data, |vars, x| {
		let h = rms_norm(vars, "layers.1", &linear(vars, "layers.0", x)?)?.silu()?;
		linear(vars, "layers.2", &h)
	});
}

/// `x` is `[rows positions, width]`.
fn attention(vars: &Vars, name: &str, x: &Tensor, positions: usize, heads: usize) -> Made {
	let (vectors, width) = x.dims2()?;
	let (rows, depth) = (vectors / positions, width / heads);
	let split = |part: &str| {
		let y = linear(vars, &format!("{name}.{part}"), x)?;
		y.reshape((rows, positions, heads, depth))?.transpose(1, 2)?.contiguous()
	};
	let (q, k, v) = (split("query")?, split("key")?, split("value")?);
	let scores = (q.matmul(&k.t()?.contiguous()?)? / (depth as f64).sqrt())?;
	let hidden = (0..positions)
		.flat_map(|i| (0..positions).map(move |j| if j <= i { 0f32 } else { -1e9 }))
		.collect();
	let hidden = Tensor::from_vec(hidden, (1, 1, positions, positions), &Device::Cpu)?;
	let e = scores.broadcast_add(&hidden)?.exp()?;
	let p = e.broadcast_div(&e.sum_keepdim(D::Minus1)?)?;
	let mixed = p.matmul(&v)?.transpose(1, 2)?.reshape((vectors, width))?;
	linear(vars, &format!("{name}.output"), &mixed)
}

#[test]
fn transformers() {
	let (positions, heads, blocks) = (5, 2, 2u32);
	let (mut spec, data) = text_spec();
	spec.model = Model::Transformer {
		layers: blocks,
		heads: heads as u32,
		width: 8,
		mlp_factor: 3,
		dropout_nano: 0,
	};
	check(&spec, data, |vars, x| {
		let tokens = x.flatten_all()?.to_dtype(DType::U32)?;
		let rows = x.dim(0)?;
		let h = vars["layers.0.tokens"].index_select(&tokens, 0)?;
		let h = h.reshape((rows, positions, 8))?.broadcast_add(&vars["layers.0.positions"])?;
		let mut h = h.reshape((rows * positions, 8))?;
		let mut layer = 0;
		let mut next = || {
			layer += 1;
			format!("layers.{layer}")
		};
		for _ in 0..blocks {
			let normal = layer_norm(vars, &next(), &h)?;
			h = (attention(vars, &next(), &normal, positions, heads)? + h)?;
			let normal = layer_norm(vars, &next(), &h)?;
			let wide = linear(vars, &next(), &normal)?.gelu_erf()?;
			h = (linear(vars, &next(), &wide)? + h)?;
		}
		let normal = layer_norm(vars, &next(), &h)?;
		linear(vars, &next(), &normal)
	});
}
