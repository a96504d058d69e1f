import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

/**
 * The body of a request as a stream that can be given up without taking the client's connection along: a service may
 * answer before it has read everything, and its reply must still reach the client.
 */
export function openUpload(incoming: IncomingMessage): PassThrough {
  const upload = new PassThrough();
  incoming.pipe(upload);
  upload.once("close", () => {
    incoming.unpipe(upload);
    incoming.resume();
  });
  // A body that breaks off ends the request with it: its service must not take what came for the whole.
  incoming.once("error", (error) => upload.destroy(error));
  // What reads the stream hears of errors; one that has stopped reading does not care.
  upload.on("error", () => {});
  return upload;
}
