/** Streams as the Streams Standard has them, where the engine's differ. */
import "./pipe.ts";
