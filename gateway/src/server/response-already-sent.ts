import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";

/**
 * What a handler returns that has sent the response itself. The adapter recognizes it only as a complete response object. If
 * it was created after a listener of the adapter, it is an incomplete one, which the adapter would send as a second
 * response, until its body is read.
 */
export const responseAlreadySent: Response = RESPONSE_ALREADY_SENT;
void responseAlreadySent.body;
