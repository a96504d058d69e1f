const reasons: Record<string, string> = {
  ECONNREFUSED: "The endpoint refused the connection.",
  ECONNRESET: "The endpoint closed the connection without a response.",
  EPIPE: "The endpoint closed the connection without a response.",
  UND_ERR_SOCKET: "The endpoint closed the connection without a response.",
  ETIMEDOUT: "No connection to the endpoint came about in time.",
  UND_ERR_CONNECT_TIMEOUT: "No connection to the endpoint came about in time.",
  EHOSTUNREACH: "The endpoint's host cannot be reached.",
  ENETUNREACH: "The endpoint's network cannot be reached.",
  CERT_HAS_EXPIRED: "The endpoint's certificate has expired.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The endpoint's certificate is for another host.",
  UND_ERR_HEADERS_OVERFLOW: "The response has too many headers.",
};

/** Why a message could not be posted, in words for whoever runs the endpoint. */
export function reasonOfFailure(error: unknown): string {
  // A host with several addresses fails with the failures of all of them.
  const failure = error instanceof AggregateError ? error.errors[0] : error;
  if (!(failure instanceof Error)) return "The message could not be posted.";
  const code = "code" in failure && typeof failure.code === "string" ? failure.code : "";
  const known = reasons[code];
  if (known) return known;
  if (code.startsWith("HPE_")) return "The endpoint's response is no HTTP.";
  // The system's own words name addresses, also of this machine.
  if ("syscall" in failure) return `No connection to the endpoint came about (${code}).`;
  return code === "" || code === "FORBIDDEN_ADDRESS" ? failure.message : `${failure.message} (${code})`;
}
