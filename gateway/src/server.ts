import { randomUUID } from "node:crypto";
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@pragma/contracts/errors";
import { problemOf } from "@pragma/contracts/problem";
import { serverOptions } from "@pragma/runtime/http-server";
import { answerPlainRequests, type PlainConnections } from "./plain-connections.ts";
import type { ClientListener } from "./serve.ts";

/** A server whose every reply is in the shape that the API's are, also to what is no HTTP. */
export function createGatewayServer(listener: ClientListener): PlainConnections & { server: Server } {
  const server = createServer(serverOptions, listener);
  // Without this, whoever waits to be told to send is told so before the key has been looked at.
  server.on("checkContinue", listener);
  server.on("checkExpectation", listener);
  server.on("clientError", refuse);
  return { server, ...answerPlainRequests(server, listener) };
}

/** Answers bytes that are no HTTP request, headers that are too large, and requests that do not end. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const problem = problemOf(new ApiError("invalid_request", { detail: detailOf(error) }), requestId);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function detailOf({ code }: NodeJS.ErrnoException): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return `The headers are larger than ${serverOptions.maxHeaderSize / 1024} KB.`;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "The request did not come in whole in time.";
    default:
      return "This is not an HTTP request.";
  }
}
