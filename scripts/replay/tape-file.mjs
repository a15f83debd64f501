// Files of recordings, as far as it takes to change one value of an event and leave the file whole (docs/replay.md, "The file").

const CHECKSUM = 8;

/** The method GET, by its number in the list of usual texts. */
const GET = 3;

/** Events of a recording's file, with the places of values that a guest gets or gives. */
export class TapeFile {
  #bytes;
  #at = 9;
  /** The bytes before the length of the events. */
  #head;
  #events;
  /** Each with its kind, its number from 0, and its values: the places of their bytes among the bytes of all events. */
  events = [];

  constructor(bytes) {
    this.#bytes = bytes;
    const written = bytes.readBigUInt64LE(bytes.length - CHECKSUM);
    if (checksum(bytes.subarray(0, -CHECKSUM)) !== written) throw new Error("the checksum of a recording is another");
    this.#at += 32;
    for (let n = 0; n < 2; n++) this.#text();
    for (let n = 0; n < 3; n++) this.#number();
    this.#at++;
    for (let n = 0; n < 2; n++) this.#number();
    if (this.#bytes[this.#at++] === 1) this.#at += 16;
    for (let names = this.#number(); names > 0n; names--) this.#text();
    this.#at++;
    this.#head = bytes.subarray(0, this.#at);
    const length = Number(this.#number());
    this.#events = bytes.subarray(this.#at, this.#at + length);
    this.#bytes = this.#events;
    this.#at = 0;
    while (this.#at < length) this.events.push({ number: this.events.length, ...this.#event() });
  }

  /** The first value of an event, as Latin-1. */
  textOf({ values: [[start, end]] }) {
    return this.#events.toString("latin1", start, end);
  }

  /** The file with one byte of an event changed, at a place among those of all events. */
  withByte(place) {
    const events = Buffer.from(this.#events);
    events[place] ^= 1;
    return this.#file(events);
  }

  /** The file with a time that is later by some nanoseconds. The next time of that clock stays. */
  withLater(event, nanoseconds) {
    const later = this.events.slice(event.number + 1).find(({ kind }) => kind === event.kind);
    const edits = [[event, BigInt(nanoseconds)], ...(later === undefined ? [] : [[later, -BigInt(nanoseconds)]])];
    let from = 0;
    const parts = [];
    for (const [{ time, values }, more] of edits) {
      const [[start, end]] = values;
      parts.push(this.#events.subarray(from, start), encoded(zigzag(unzigzag(time) + more)));
      from = end;
    }
    return this.#file(Buffer.concat([...parts, this.#events.subarray(from)]));
  }

  #file(events) {
    const whole = Buffer.concat([this.#head, encoded(BigInt(events.length)), events]);
    const sum = Buffer.alloc(CHECKSUM);
    sum.writeBigUInt64LE(checksum(whole));
    return Buffer.concat([whole, sum]);
  }

  #event() {
    const kind = this.#bytes[this.#at++];
    switch (kind) {
      case 1: {
        const isGet = this.#bytes[this.#at] === GET;
        this.#text();
        this.#text();
        this.#fields();
        return { kind: "request", isGet, values: [this.#optional()] };
      }
      case 2:
        this.#number();
        this.#fields();
        return { kind: "answer", values: [this.#optional()] };
      case 4:
      case 5: {
        const start = this.#at;
        const time = this.#number();
        return { kind: kind === 4 ? "monotonic time" : "time", time, values: [[start, this.#at]] };
      }
      case 6:
        return { kind: "random", values: [this.#data(Number(this.#number()))] };
      case 7:
        return { kind: "random", values: [this.#data(8)] };
      case 8:
        for (let count = this.#number(); count > 0n; count--) {
          this.#text();
          this.#text();
          this.#at++;
        }
        return { kind: "environment", values: [] };
      case 9:
      case 10:
      case 11:
        this.#number();
        this.#text();
        this.#text();
        this.#fields();
        this.#optional();
        this.#number();
        this.#number();
        return { kind: "call", values: [] };
      case 15:
        this.#number();
        this.#number();
        this.#fields();
        return { kind: "result", values: [this.#optional()] };
      case 16:
      case 22:
        this.#number();
        this.#at++;
        this.#text();
        return { kind: "failure", values: [] };
      case 19:
        this.#number();
        return { kind: "read", values: [this.#data(Number(this.#number()))] };
      case 23:
        this.#number();
        this.#optional();
        this.#number();
        return { kind: "write", values: [] };
      case 25:
      case 26:
        return { kind: "log", values: [this.#data(Number(this.#number()))] };
      case 3:
      case 27:
        this.#text();
        return { kind: "trap", values: [] };
      case 14:
      case 17:
        return { kind: "nothing", values: [] };
      default:
        if (![12, 13, 18, 20, 21, 24].includes(kind)) throw new Error(`a recording has an event ${kind}`);
        this.#number();
        return { kind: "other", values: [] };
    }
  }

  #number() {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      number |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  }

  #data(length) {
    const start = this.#at;
    this.#at += length;
    return [start, this.#at];
  }

  #optional() {
    const length = Number(this.#number());
    return this.#data(Math.max(0, length - 1));
  }

  #text() {
    const number = this.#number();
    if ((number & 1n) === 0n) this.#at += Number(number >> 1n);
  }

  #fields() {
    for (let count = this.#number(); count > 0n; count--) {
      this.#text();
      this.#text();
    }
  }
}

const U64 = (1n << 64n) - 1n;
const unzigzag = (number) => (number >> 1n) ^ -(number & 1n);
const zigzag = (number) => BigInt.asUintN(64, (number << 1n) ^ (number >> 63n));

function encoded(number) {
  const bytes = [];
  for (let left = number; ; left >>= 7n) {
    if (left < 0x80n) return Buffer.from([...bytes, Number(left)]);
    bytes.push(Number(left & 0x7fn) | 0x80);
  }
}

const secret = Buffer.from(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364ea" +
    "c5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e",
  "hex",
);
const [P32_1, P64_1] = [0x9e3779b1n, 0x9e3779b185ebca87n];

/** XXH3 with 64 bits, of more than 240 bytes, which every recording has. */
function checksum(bytes) {
  if (bytes.length <= 240) throw new Error("a recording is shorter than any");
  const sums = [
    0xc2b2ae3dn,
    P64_1,
    0xc2b2ae3d27d4eb4fn,
    0x165667b19e3779f9n,
    0x85ebca77c2b2ae63n,
    0x85ebca77n,
    0x27d4eb2f165667c5n,
    P32_1,
  ];
  const add = (at, key) => {
    for (let lane = 0; lane < 8; lane++) {
      const data = bytes.readBigUInt64LE(at + 8 * lane);
      const mixed = data ^ secret.readBigUInt64LE(key + 8 * lane);
      sums[lane ^ 1] = (sums[lane ^ 1] + data) & U64;
      sums[lane] = (sums[lane] + (mixed & 0xffffffffn) * (mixed >> 32n)) & U64;
    }
  };
  const last = bytes.length - 1;
  for (let stripe = 0; stripe < Math.floor(last / 64); stripe++) {
    add(64 * stripe, 8 * (stripe % 16));
    if (stripe % 16 !== 15 || 64 * (stripe + 1) > last) continue;
    for (let lane = 0; lane < 8; lane++) {
      const sum = sums[lane] ^ (sums[lane] >> 47n) ^ secret.readBigUInt64LE(128 + 8 * lane);
      sums[lane] = (sum * P32_1) & U64;
    }
  }
  add(bytes.length - 64, 121);
  let made = (BigInt(bytes.length) * P64_1) & U64;
  for (let pair = 0; pair < 4; pair++) {
    const [one, other] = [0, 1].map((n) => sums[2 * pair + n] ^ secret.readBigUInt64LE(11 + 16 * pair + 8 * n));
    const product = one * other;
    made = (made + ((product & U64) ^ (product >> 64n))) & U64;
  }
  made ^= made >> 37n;
  made = (made * 0x165667919e3779f9n) & U64;
  return made ^ (made >> 32n);
}
