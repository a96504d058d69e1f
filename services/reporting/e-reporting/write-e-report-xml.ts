import { create } from "xmlbuilder2";
import type { EReportFile } from "./e-report-file.ts";

/** Returns the file as XML. Its elements have no namespace, as the administration's schema requires. */
export function writeEReportXml(file: EReportFile): string {
  return create({ version: "1.0", encoding: "UTF-8" }, { Report: file } as object).end({ prettyPrint: true });
}
