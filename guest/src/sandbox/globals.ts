/** The globals of scripts besides those of the language: the web's, as far as they need no full engine. */
import "../platform/console/install.ts";
import "../platform/crypto/install.ts";
import "../platform/encoding/install-encoder.ts";
import "../platform/encoding/install-utf8.ts";
import "../platform/events/install/abort-controller.ts";
import "../platform/events/install/abort-signal.ts";
import "../platform/events/install/event-target.ts";
import "../platform/events/install/event.ts";
import "../platform/file/install.ts";
import "../platform/file/install-form.ts";
import "../platform/self.ts";
import "../platform/streams/install.ts";
import "../platform/structured-clone/install.ts";
import "../platform/url/install.ts";
import "./fetch.ts";
