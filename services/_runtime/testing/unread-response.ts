import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** Returns a response that the client has not read. The response closes when its socket closes. */
export function createResponseUnreadByClient(): ServerResponse {
  const socket = new Socket();
  const outgoing = new ServerResponse(new IncomingMessage(socket));
  outgoing.assignSocket(socket);
  return outgoing;
}
