import { z } from "zod";

export const configParams = z.object({ id: z.guid().meta({ description: "Id of the config" }) });

export const exportParams = z.object({ id: z.guid().meta({ description: "Id of the export" }) });

/** Of a file, as the export's `files` number them. */
export const fileParams = exportParams.extend({
  number: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "must be a whole number from 1")
    .transform(Number)
    .meta({ description: "Number of the file in the export, from 1", type: "integer", minimum: 1, example: 1 }),
});
