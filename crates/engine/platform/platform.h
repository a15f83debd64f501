// The Rust library of the engine: URLs, encodings, compression. See src/lib.rs.
//
// Texts are UTF-8 and need not end with a zero. An input that comes from JavaScript may have lone surrogates, encoded as
// QuickJS does it, in three bytes. Every object is freed by the function that ends with `_free`, which accepts NULL.
#ifndef TENON_PLATFORM_H
#define TENON_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A text that belongs to the object it was asked of, until that changes or is freed.
struct tenon_text {
  const char *start;
  size_t length;
};

// --- URLs ---

struct tenon_url;

enum tenon_url_part {
  TENON_URL_HREF,
  TENON_URL_PROTOCOL,
  TENON_URL_USERNAME,
  TENON_URL_PASSWORD,
  TENON_URL_HOST,
  TENON_URL_HOSTNAME,
  TENON_URL_PORT,
  TENON_URL_PATHNAME,
  TENON_URL_SEARCH,
  TENON_URL_HASH,
  TENON_URL_PARTS,
};

// Parses `input`, against `base` if `against`. Returns NULL if one of the two is not valid.
struct tenon_url *tenon_url_parse(const char *input, size_t length, const char *base, size_t base_length, bool against);

// Returns the value of the getter of that name, in ASCII.
struct tenon_text tenon_url_part(const struct tenon_url *url, enum tenon_url_part part);

// Does what the setter of that name does. Returns whether the value was valid; if not, the URL is as it was.
bool tenon_url_assign(struct tenon_url *url, enum tenon_url_part part, const char *value, size_t length);

void tenon_url_free(struct tenon_url *url);

// --- Encodings ---

struct tenon_decoder;

// Returns NULL if the label is none of the Encoding Standard, or that of the encoding "replacement".
struct tenon_decoder *tenon_decoder_new(const char *label, size_t length, bool fatal, bool ignore_bom);

// The encoding's name, in the standard's spelling ("UTF-8", "windows-1252").
struct tenon_text tenon_decoder_encoding(const struct tenon_decoder *decoder);

// The most bytes of UTF-8 that the next `length` bytes of input can become. SIZE_MAX is more than there is.
size_t tenon_decoder_space(const struct tenon_decoder *decoder, size_t length);

// Decodes to UTF-8. `space` is at least `tenon_decoder_space`. `stream` says that the text goes on in the next call; otherwise
// the next call begins a new one. Returns the number of bytes written, or -1 if the decoder is fatal and the input is not valid.
ptrdiff_t tenon_decoder_decode(struct tenon_decoder *decoder, const uint8_t *input, size_t length, uint8_t *output, size_t space, bool stream);

void tenon_decoder_free(struct tenon_decoder *decoder);

// --- Compression ---

struct tenon_codec;

enum tenon_format { TENON_ZLIB, TENON_DEFLATE, TENON_GZIP, TENON_FORMATS };

struct tenon_codec *tenon_codec_new(enum tenon_format format, bool decompress);

// Copies input for the next calls of `tenon_codec_pull`. Returns false if there is no memory.
bool tenon_codec_push(struct tenon_codec *codec, const uint8_t *input, size_t length);

// Says that no input follows.
void tenon_codec_finish(struct tenon_codec *codec);

// Writes a part of the output, and returns its length: 0 when more input is needed and at the end, or -1 when the input is not
// valid. `space` is not 0.
ptrdiff_t tenon_codec_pull(struct tenon_codec *codec, uint8_t *output, size_t space);

void tenon_codec_free(struct tenon_codec *codec);

#endif
