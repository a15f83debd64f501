/** Streams as the Streams Standard has them, where the engine's differ. */
import "./sink-signal.ts";
import "./pipe.ts";
import "./byte-tee.ts";
import "./read-min.ts";
import "./stream-from.ts";
