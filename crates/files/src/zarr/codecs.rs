//! The codecs of an array: those of `zarrs`, with decoders that stop where a chunk has more bytes than it may.

use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::{
    BytesToBytesCodecTraits, Codec, CodecChain, CodecError, CodecMetadataOptions, CodecOptions, CodecTraits,
    NamedArrayToArrayCodec, NamedArrayToBytesCodec, NamedBytesToBytesCodec, PartialDecoderCapability,
    PartialEncoderCapability, ShardingCodec,
};
use zarrs::array::concurrency::RecommendedConcurrency;
use zarrs::array::{BytesRepresentation, RawBytes};
use zarrs::config::global_config;
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata_ext::codec::sharding::{ShardingCodecConfigurationV1, ShardingIndexLocation};

/// Shape of a chunk.
pub(super) type ChunkShape = Vec<NonZeroU64>;

/// Name of the codec that puts many chunks into a file.
pub(super) const SHARDS: &str = "sharding_indexed";

/// Most chunks of a shard.
const MOST_CHUNKS: u64 = 1 << 24;

/// The codecs of a file of an array.
pub(super) struct Codecs {
    /// From file to chunk.
    pub(super) whole: CodecChain,
    /// The parts, if the files are shards and no more.
    pub(super) shards: Option<Shards>,
}

/// Shards, whose chunks are read one by one.
pub(super) struct Shards {
    /// Shape of a chunk in a shard.
    pub(super) shape: ChunkShape,
    pub(super) inner: Arc<CodecChain>,
    pub(super) index: Arc<CodecChain>,
    /// Whether the index is at the start of the file, not at its end.
    pub(super) at_start: bool,
}

impl Codecs {
    /// Makes the codecs for files of this shape.
    ///
    /// # Errors
    /// What is not supported.
    pub(super) fn new(metadata: &[MetadataV3], shape: &[NonZeroU64]) -> Result<Codecs, String> {
        let whole = chain(metadata, shape)?;
        let shards = match metadata {
            [codec] if codec.name() == SHARDS => Some(sharding(codec, shape)?),
            _ => None,
        };
        Ok(Codecs { whole, shards })
    }
}

/// Makes the codecs of a list.
fn chain(metadata: &[MetadataV3], shape: &[NonZeroU64]) -> Result<CodecChain, String> {
    let mut shape = shape.to_vec();
    let (mut arrays, mut to_bytes, mut bytes) = (Vec::new(), None, Vec::new());
    for codec in metadata {
        let name = codec.name().to_string();
        match (&name[..], to_bytes.is_none()) {
            ("transpose", true) => {
                let Codec::ArrayToArray(codec) = made(codec)? else { return Err(misplaced(&name)) };
                shape = codec.encoded_shape(&shape).map_err(|error| error.to_string())?.to_vec();
                arrays.push(NamedArrayToArrayCodec::new(name, codec));
            }
            ("bytes", true) => {
                let Codec::ArrayToBytes(codec) = made(codec)? else { return Err(misplaced(&name)) };
                to_bytes = Some(NamedArrayToBytesCodec::new(name, codec));
            }
            (SHARDS, true) => {
                let Shards { shape, inner, index, at_start } = sharding(codec, &shape)?;
                let location = if at_start { ShardingIndexLocation::Start } else { ShardingIndexLocation::End };
                let codec = ShardingCodec::new(shape.into(), inner, index, location);
                to_bytes = Some(NamedArrayToBytesCodec::new(name, Arc::new(codec)));
            }
            ("blosc" | "crc32c" | "gzip" | "zstd", false) => {
                let Codec::BytesToBytes(inner) = made(codec)? else { return Err(misplaced(&name)) };
                let kind = match &name[..] {
                    "blosc" => Kind::Blosc,
                    "gzip" => Kind::Gzip,
                    "zstd" => Kind::Zstd,
                    _ => Kind::Other,
                };
                bytes.push(NamedBytesToBytesCodec::new(name, Arc::new(Bounded { kind, inner })));
            }
            ("transpose" | "bytes" | SHARDS | "blosc" | "crc32c" | "gzip" | "zstd", _) => return Err(misplaced(&name)),
            _ => {
                let known = format!("bytes, {SHARDS}, transpose, blosc, crc32c, gzip, zstd");
                return Err(format!("codec '{name}' is not supported; supported are {known}"));
            }
        }
    }
    let to_bytes = to_bytes.ok_or("no codec makes bytes of the array")?;
    Ok(CodecChain::new_named(arrays, to_bytes, bytes))
}

fn made(codec: &MetadataV3) -> Result<Codec, String> {
    Codec::from_metadata(codec, global_config().codec_aliases_v3())
        .map_err(|error| format!("codec '{}': {error}", codec.name()))
}

fn misplaced(name: &str) -> String {
    format!("codec '{name}' is not where it can be")
}

/// Reads the codec of shards of this shape.
fn sharding(codec: &MetadataV3, shard: &[NonZeroU64]) -> Result<Shards, String> {
    let configuration: ShardingCodecConfigurationV1 =
        codec.to_configuration().map_err(|error| format!("codec '{SHARDS}': {error}"))?;
    let shape: ChunkShape = configuration.chunk_shape.to_vec();
    let fits = shape.len() == shard.len() && shard.iter().zip(&shape).all(|(all, part)| all.get() % part.get() == 0);
    if !fits {
        return Err(format!("chunks of {shape:?} do not divide shards of {shard:?}"));
    }
    let each: Vec<NonZeroU64> =
        shard.iter().zip(&shape).filter_map(|(all, part)| NonZeroU64::new(all.get() / part.get())).collect();
    if product(&each).is_none_or(|chunks| chunks > MOST_CHUNKS) {
        return Err(format!("shards of {shard:?} have more than {MOST_CHUNKS} chunks of {shape:?}"));
    }
    let inner = Arc::new(chain(&configuration.codecs, &shape)?);
    let two = NonZeroU64::MIN.saturating_add(1);
    let index = Arc::new(chain(&configuration.index_codecs, &[each, vec![two]].concat())?);
    Ok(Shards { shape, inner, index, at_start: configuration.index_location == ShardingIndexLocation::Start })
}

/// Returns the number of elements of a shape; `None` if it is beyond all memory.
pub(super) fn product(shape: &[NonZeroU64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |all, size| all.checked_mul(size.get()))
}

/// A codec that decodes at most the bytes that a chunk must have: a small file may decode to any number of bytes.
#[derive(Debug)]
struct Bounded {
    kind: Kind,
    inner: Arc<dyn BytesToBytesCodecTraits>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Blosc,
    Gzip,
    Zstd,
    /// Decoded bytes are not more than the encoded ones.
    Other,
}

impl CodecTraits for Bounded {
    fn identifier(&self) -> &str {
        self.inner.identifier()
    }

    fn configuration_opt(&self, name: &str, options: &CodecMetadataOptions) -> Option<Configuration> {
        self.inner.configuration_opt(name, options)
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for Bounded {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, decoded: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        self.inner.recommended_concurrency(decoded)
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        self.inner.encoded_representation(decoded)
    }

    fn encode<'a>(&self, decoded: RawBytes<'a>, options: &CodecOptions) -> Result<RawBytes<'a>, CodecError> {
        self.inner.encode(decoded, options)
    }

    fn decode<'a>(
        &self,
        encoded: RawBytes<'a>,
        decoded: &BytesRepresentation,
        options: &CodecOptions,
    ) -> Result<RawBytes<'a>, CodecError> {
        let most = most(decoded).ok_or("the size of a chunk has no limit")?;
        let more = || CodecError::from("a chunk has more bytes than its shape");
        match self.kind {
            Kind::Zstd => Ok(Cow::Owned(zstd::bulk::decompress(&encoded, most)?)),
            Kind::Gzip => {
                let mut bytes = Vec::new();
                GzDecoder::new(&encoded[..]).take(most as u64 + 1).read_to_end(&mut bytes)?;
                if bytes.len() > most { Err(more()) } else { Ok(Cow::Owned(bytes)) }
            }
            Kind::Blosc => {
                // Bytes 4 to 7 of the header are the size.
                let size = encoded.get(4..8).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
                if size.is_some_and(|size| size as usize > most) {
                    Err(more())
                } else {
                    self.inner.decode(encoded, decoded, options)
                }
            }
            Kind::Other => self.inner.decode(encoded, decoded, options),
        }
    }
}

/// Returns the most bytes that there may be; other encoders may take a few more than those of `zarrs`.
pub(super) fn most(size: &BytesRepresentation) -> Option<usize> {
    match size {
        BytesRepresentation::FixedSize(size) => usize::try_from(*size).ok(),
        BytesRepresentation::BoundedSize(size) => {
            usize::try_from(size.checked_add(size / 4)?.checked_add(1 << 16)?).ok()
        }
        BytesRepresentation::UnboundedSize => None,
    }
}
