import { ApiError } from "@pragma/contracts/errors";
import type { GatewayMiddleware } from "../server/gateway-request.ts";

const maxHeaders = 100;
/**
 * Maximum total size of the names and values of all headers, in bytes. Services accept 64 KB, because the gateway adds
 * headers to the headers of the client.
 */
const maxHeaderBytes = 16 * 1024;

/**
 * Middleware that rejects requests with too many or too large headers, with several Host or Authorization headers, or
 * with a transfer encoding that node:http does not decode.
 */
export const headerLimitMiddleware: GatewayMiddleware = async (context, next) => {
  const { rawHeaders, headers } = context.env.incoming;
  if (rawHeaders.length > 2 * maxHeaders) throw headersTooLarge(`${maxHeaders} headers`);
  let bytes = 0;
  const counts = { host: 0, authorization: 0 };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    bytes += name.length + (rawHeaders[index + 1] as string).length;
    if (name === "host" || name === "authorization") counts[name] += 1;
  }
  if (bytes > maxHeaderBytes) throw headersTooLarge(`${maxHeaderBytes / 1024} KB of headers`);
  if (counts.host > 1) throw new ApiError("invalid_request", { detail: "Send the Host header only once." });
  // A request with several Authorization headers is rejected, because a proxy may use a different one than the gateway.
  if (counts.authorization > 1) {
    throw new ApiError("invalid_request", { detail: "Send the Authorization header only once." });
  }
  const codings = headers["transfer-encoding"]?.split(",").map((coding) => coding.trim().toLowerCase()) ?? [];
  if (codings.some((coding) => coding !== "chunked" && coding !== "")) {
    throw new ApiError("unsupported_transfer_encoding", {
      detail: `The transfer encoding ${headers["transfer-encoding"]} is not supported. Use the transfer encoding chunked, or send Content-Length.`,
      headers: { connection: "close" },
    });
  }
  await next();
};

function headersTooLarge(limit: string): ApiError {
  return new ApiError("headers_too_large", { detail: `A request can have at most ${limit}.` });
}
