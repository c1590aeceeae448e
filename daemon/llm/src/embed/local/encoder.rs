//! A small encoder of the BERT family. The vector of a text is the sum of the last layer's token
//! vectors, or the vector of the first token. The caller normalises the vector.

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut1, Axis, s};
use serde_json::Value;

use super::tensors::Tensors;

pub(super) struct Encoder {
    token_embeddings: Array2<f32>,
    position_embeddings: Array2<f32>,
    /// The embedding of the first segment, which is added to each token. Other segments are not
    /// used.
    segment_embedding: Array1<f32>,
    input_norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    uses_first_token: bool,
}

struct Layer {
    query: Dense,
    key: Dense,
    value: Dense,
    attended: Dense,
    attended_norm: Norm,
    wide: Dense,
    narrow: Dense,
    norm: Norm,
}

struct Dense {
    /// Shape: (inputs, outputs).
    weights: Array2<f32>,
    bias: Array1<f32>,
}

struct Norm {
    weights: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

/// Maximum number of tokens of a text, as in the settings of all-MiniLM-L6-v2.
const PIECES: usize = 256;

impl Encoder {
    pub(super) fn read(
        tensors: &Tensors,
        config: &Value,
        pooling: Option<&Value>,
    ) -> Result<Encoder, String> {
        let words = "embeddings.word_embeddings.weight";
        let prefix = tensors.prefix_of(words).ok_or(
            "it is neither a table of vectors (model2vec) nor an encoder of the BERT family",
        )?;
        let epsilon = config["layer_norm_eps"].as_f64().unwrap_or(1e-12) as f32;
        let reader = WeightReader { tensors, prefix, epsilon };
        let number = |name: &str| {
            let number = config[name].as_u64().and_then(|number| usize::try_from(number).ok());
            number.filter(|number| *number > 0).ok_or_else(|| format!("config.json lacks {name}"))
        };
        if !matches!(config["hidden_act"].as_str(), None | Some("gelu")) {
            return Err("its hidden_act is not gelu".to_owned());
        }
        let pieces = reader.matrix(words)?;
        let heads = number("num_attention_heads")?;
        if !pieces.ncols().is_multiple_of(heads) {
            return Err("its width is not a multiple of its number of heads".to_owned());
        }
        let layers = (0..number("num_hidden_layers")?).map(|layer| reader.layer(layer));
        let encoder = Encoder {
            position_embeddings: reader.matrix("embeddings.position_embeddings.weight")?,
            segment_embedding: reader
                .matrix("embeddings.token_type_embeddings.weight")?
                .row(0)
                .to_owned(),
            input_norm: reader.norm("embeddings.LayerNorm")?,
            layers: layers.collect::<Result<_, _>>()?,
            heads,
            uses_first_token: pooling
                .is_some_and(|pooling| pooling["pooling_mode_cls_token"] == Value::Bool(true)),
            token_embeddings: pieces,
        };
        encoder.check()?;
        Ok(encoder)
    }

    /// Returns the maximum number of tokens of a text: [`PIECES`], or fewer if the model has fewer
    /// position embeddings.
    pub(super) fn most_pieces(&self) -> usize {
        self.position_embeddings.nrows().min(PIECES)
    }

    /// Returns the vector of a text, given its token ids.
    pub(super) fn vector(&self, pieces: &[u32]) -> Vec<f32> {
        let known: Vec<usize> = pieces
            .iter()
            .map(|piece| *piece as usize)
            .filter(|piece| *piece < self.token_embeddings.nrows())
            .take(self.most_pieces())
            .collect();
        if known.is_empty() {
            return vec![0.0; self.token_embeddings.ncols()];
        }
        let mut state = Array2::zeros((known.len(), self.token_embeddings.ncols()));
        for ((mut row, piece), place) in state.outer_iter_mut().zip(&known).zip(0..) {
            row += &self.token_embeddings.row(*piece);
            row += &self.position_embeddings.row(place);
            row += &self.segment_embedding;
        }
        self.input_norm.apply(&mut state);
        for layer in &self.layers {
            state = layer.apply(&state, self.heads);
        }
        match self.uses_first_token {
            true => state.row(0).to_vec(),
            false => state.sum_axis(Axis(0)).to_vec(),
        }
    }

    /// Checks that all shapes match, so that no multiplication fails later.
    fn check(&self) -> Result<(), String> {
        let width = self.token_embeddings.ncols();
        let fits = |dense: &Dense, from: usize, to: usize| {
            dense.weights.dim() == (from, to) && dense.bias.len() == to
        };
        let norms = |norm: &Norm| norm.weights.len() == width && norm.bias.len() == width;
        let layer_fits = |layer: &Layer| {
            let inner = layer.wide.weights.ncols();
            [&layer.query, &layer.key, &layer.value, &layer.attended]
                .iter()
                .all(|dense| fits(dense, width, width))
                && fits(&layer.wide, width, inner)
                && fits(&layer.narrow, inner, width)
                && norms(&layer.attended_norm)
                && norms(&layer.norm)
        };
        let is_valid = self.position_embeddings.ncols() == width
            && self.position_embeddings.nrows() >= 2
            && self.segment_embedding.len() == width
            && norms(&self.input_norm)
            && self.layers.iter().all(layer_fits);
        if is_valid { Ok(()) } else { Err("the shapes of its tensors do not match".to_owned()) }
    }
}

impl Layer {
    fn apply(&self, state: &Array2<f32>, heads: usize) -> Array2<f32> {
        let (query, key, value) =
            (self.query.apply(state), self.key.apply(state), self.value.apply(state));
        let width = state.ncols() / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut attention_output = Array2::zeros(state.raw_dim());
        for head in 0..heads {
            let of = s![.., head * width..(head + 1) * width];
            let mut attention_weights = query.slice(of).dot(&key.slice(of).t());
            for row in attention_weights.outer_iter_mut() {
                softmax(row, scale);
            }
            attention_output.slice_mut(of).assign(&attention_weights.dot(&value.slice(of)));
        }
        let mut attended = self.attended.apply(&attention_output);
        attended += state;
        self.attended_norm.apply(&mut attended);
        let mut wide = self.wide.apply(&attended);
        wide.mapv_inplace(gelu);
        let mut next = self.narrow.apply(&wide);
        next += &attended;
        self.norm.apply(&mut next);
        next
    }
}

impl Dense {
    fn apply(&self, state: &Array2<f32>) -> Array2<f32> {
        let mut next = state.dot(&self.weights);
        next += &self.bias;
        next
    }
}

impl Norm {
    fn apply(&self, state: &mut Array2<f32>) {
        for mut row in state.outer_iter_mut() {
            let mean = row.sum() / row.len() as f32;
            let spread = row.iter().map(|number| (number - mean).powi(2)).sum::<f32>();
            let scale = 1.0 / (spread / row.len() as f32 + self.epsilon).sqrt();
            for (number, (weight, bias)) in row.iter_mut().zip(self.weights.iter().zip(&self.bias))
            {
                *number = (*number - mean) * scale * weight + bias;
            }
        }
    }
}

fn softmax(mut row: ArrayViewMut1<'_, f32>, scale: f32) {
    let most = row.iter().fold(f32::NEG_INFINITY, |most, number| most.max(*number));
    row.mapv_inplace(|number| ((number - most) * scale).exp());
    let sum = row.sum();
    row /= sum;
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Approximates the error function to within 2e-7 (Abramowitz and Stegun, 7.1.26).
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let powers = [0.254_829_6, -0.284_496_74, 1.421_413_7, -1.453_152, 1.061_405_4];
    let sum = powers.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

/// Reads tensors by the names that the BERT family uses.
struct WeightReader<'r> {
    tensors: &'r Tensors,
    prefix: &'r str,
    epsilon: f32,
}

impl WeightReader<'_> {
    fn layer(&self, number: usize) -> Result<Layer, String> {
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            query: self.dense(&name("attention.self.query"))?,
            key: self.dense(&name("attention.self.key"))?,
            value: self.dense(&name("attention.self.value"))?,
            attended: self.dense(&name("attention.output.dense"))?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"))?,
            wide: self.dense(&name("intermediate.dense"))?,
            narrow: self.dense(&name("output.dense"))?,
            norm: self.norm(&name("output.LayerNorm"))?,
        })
    }

    fn dense(&self, name: &str) -> Result<Dense, String> {
        let weights = self.matrix(&format!("{name}.weight"))?;
        // The file has the shape (outputs, inputs).
        let weights = weights.t().as_standard_layout().into_owned();
        Ok(Dense { weights, bias: self.vector(&format!("{name}.bias"))? })
    }

    fn norm(&self, name: &str) -> Result<Norm, String> {
        Ok(Norm {
            weights: self.vector(&format!("{name}.weight"))?,
            bias: self.vector(&format!("{name}.bias"))?,
            epsilon: self.epsilon,
        })
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>, String> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.get(&name)?.ok_or_else(|| format!("it lacks {name}"))?;
        let [rows, columns] = tensor.shape[..] else {
            return Err(format!("its tensor {name} is not a matrix"));
        };
        if rows == 0 || columns == 0 {
            return Err(format!("its tensor {name} is empty"));
        }
        let matrix = Array2::from_shape_vec((rows, columns), tensor.numbers);
        matrix.map_err(|error| format!("its tensor {name}: {error}"))
    }

    fn vector(&self, name: &str) -> Result<Array1<f32>, String> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.get(&name)?.ok_or_else(|| format!("it lacks {name}"))?;
        Ok(ArrayView1::from(&tensor.numbers).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_accurate_enough() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (-1.0, -0.842_700_8),
            (2.5, 0.999_593),
            (6.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 1e-6, "erf({x}) = {}", erf(x));
        }
        assert!((gelu(1.0) - 0.841_344_8).abs() < 1e-6);
    }

    /// Builds a model with one layer that adds nothing: the output is the normalised input.
    fn file(pieces: &[f32], wide: usize) -> Tensors {
        let mut tensors = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![pieces.len() / 2, 2]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![4, 2]),
            ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 2]),
            ("embeddings.LayerNorm.weight".to_owned(), vec![2]),
            ("embeddings.LayerNorm.bias".to_owned(), vec![2]),
        ];
        for (name, rows, columns) in [
            ("attention.self.query", 2, 2),
            ("attention.self.key", 2, 2),
            ("attention.self.value", 2, 2),
            ("attention.output.dense", 2, 2),
            ("intermediate.dense", wide, 2),
            ("output.dense", 2, 3),
        ] {
            tensors.push((format!("encoder.layer.0.{name}.weight"), vec![rows, columns]));
            tensors.push((format!("encoder.layer.0.{name}.bias"), vec![rows]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            tensors.push((format!("encoder.layer.0.{name}.weight"), vec![2]));
            tensors.push((format!("encoder.layer.0.{name}.bias"), vec![2]));
        }
        let mut header = serde_json::Map::new();
        let mut data: Vec<u8> = Vec::new();
        for (name, shape) in tensors {
            let count: usize = shape.iter().product();
            let is_norm = name.ends_with("LayerNorm.weight");
            let numbers = match name.contains("word_embeddings") {
                true => pieces.to_vec(),
                false => vec![if is_norm { 1.0_f32 } else { 0.0 }; count],
            };
            let start = data.len();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let place = [start, data.len()];
            let entry =
                serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": place });
            header.insert(format!("bert.{name}"), entry);
        }
        let header = Value::from(header).to_string();
        let length = (header.len() as u64).to_le_bytes();
        Tensors::read([&length[..], header.as_bytes(), &data].concat()).unwrap()
    }

    #[test]
    fn the_vector_of_a_text_is_the_sum_of_its_tokens_or_its_first_token() {
        let config = serde_json::json!({ "num_attention_heads": 1, "num_hidden_layers": 1 });
        let tensors = file(&[3.0, 1.0, 0.0, 8.0], 3);
        let encoder = Encoder::read(&tensors, &config, None).unwrap();
        let near = |vector: Vec<f32>, expected: [f32; 2]| {
            let is_near =
                vector.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-3);
            assert!(is_near, "{vector:?} is not {expected:?}");
        };
        near(encoder.vector(&[0]), [1.0, -1.0]);
        near(encoder.vector(&[0, 1]), [0.0, 0.0]);
        near(encoder.vector(&[0, 0, 1]), [1.0, -1.0]);
        // Unknown tokens, and more tokens than the encoder has positions for.
        near(encoder.vector(&[7, 0]), [1.0, -1.0]);
        near(encoder.vector(&[0; 9]), [4.0, -4.0]);
        assert_eq!(encoder.vector(&[]), [0.0, 0.0]);
        let first = serde_json::json!({ "pooling_mode_cls_token": true });
        let encoder = Encoder::read(&tensors, &config, Some(&first)).unwrap();
        near(encoder.vector(&[1, 0, 0]), [-1.0, 1.0]);
    }

    #[test]
    fn tensors_with_wrong_shapes_are_refused() {
        let config = serde_json::json!({ "num_attention_heads": 1, "num_hidden_layers": 1 });
        assert!(Encoder::read(&file(&[1.0; 4], 2), &config, None).is_err());
        for config in [
            serde_json::json!({}),
            serde_json::json!({ "num_attention_heads": 3, "num_hidden_layers": 1 }),
            serde_json::json!({ "num_attention_heads": 1, "num_hidden_layers": 2 }),
        ] {
            assert!(Encoder::read(&file(&[1.0; 4], 3), &config, None).is_err(), "{config}");
        }
    }

    #[test]
    fn softmax_values_add_up_to_one_and_depend_on_the_scale() {
        let mut row = Array1::from(vec![1_000.0, 1_001.0]);
        softmax(row.view_mut(), 1.0);
        assert!((row.sum() - 1.0).abs() < 1e-6);
        assert!((row[1] / row[0] - std::f32::consts::E).abs() < 1e-4);
    }
}
