import { text } from "../text/text.ts";

/** The status that the API counts if the client disconnects. No response has it, so no error code explains it. */
const clientClosedRequestStatus = 499;

/** The explanation of a failed request without a response; nothing for others. */
export const ClientClosed = ({ status }: { status: number }) =>
  status === clientClosedRequestStatus && <p>{text.requests.clientClosed}</p>;
