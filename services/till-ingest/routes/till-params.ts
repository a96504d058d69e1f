import { z } from "zod";

/** The path of whatever is about one till. */
export const tillParams = z.object({ id: z.guid().meta({ description: "Id of the till" }) });
