import { ApiError } from "@pragma/contracts/errors";
import type { GatewayMiddleware } from "../server/gateway-request.ts";

const maxHeaders = 100;
/** Less than half of what services take, so that the gateway's own headers always fit. */
const maxHeaderBytes = 16 * 1024;

/**
 * Refuses requests whose headers are more or larger than any client's, or say that the body is encoded in a way that
 * node:http leaves as it is, before anything reads them.
 */
export const headerLimitMiddleware: GatewayMiddleware = async (context, next) => {
  const { rawHeaders, headers } = context.env.incoming;
  if (rawHeaders.length > 2 * maxHeaders) throw headersTooLarge(`A request may have ${maxHeaders} headers`);
  let bytes = 0;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    bytes += name.length + (rawHeaders[at + 1] as string).length;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (bytes > maxHeaderBytes) throw headersTooLarge(`The headers of a request may have ${maxHeaderBytes / 1024} KB`);
  if (hosts > 1) {
    throw new ApiError("invalid_request", { detail: "The header host may come only once." });
  }
  const codings = headers["transfer-encoding"]?.split(",").map((coding) => coding.trim().toLowerCase()) ?? [];
  if (codings.some((coding) => coding !== "chunked" && coding !== "")) {
    throw new ApiError("unsupported_transfer_encoding", {
      detail: `The transfer encoding ${headers["transfer-encoding"]} is not supported: send chunked, or a content-length.`,
      headers: { connection: "close" },
    });
  }
  await next();
};

function headersTooLarge(limit: string): ApiError {
  return new ApiError("headers_too_large", { detail: `${limit}; this one has more.` });
}
