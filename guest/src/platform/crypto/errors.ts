/** The exceptions of the Web Cryptography API, by their names. */
const named = (name: string) => (text: string) => new DOMException(text, name);

/** An operation fails for a reason that depends on the data. */
export const operationError = named("OperationError");
/** A key's data are not valid. */
export const dataError = named("DataError");
/** The key does not allow the operation. */
export const invalidAccess = named("InvalidAccessError");
/** The algorithm, or a format of keys, is not supported. */
export const notSupported = named("NotSupportedError");
/** A required parameter is missing, or a usage is impossible. */
export const syntaxError = named("SyntaxError");
