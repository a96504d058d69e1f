import XmlBuilder from "fast-xml-builder";
import type { EReportFile } from "./e-report-file.ts";

const builder = new XmlBuilder({ ignoreAttributes: false, attributeNamePrefix: "@", textNodeName: "#", format: true });

/** Returns the file as XML. Its elements have no namespace, as the administration's schema requires. */
export const writeEReportXml = (file: EReportFile): string =>
  builder.build({ "?xml": { "@version": "1.0", "@encoding": "UTF-8" }, Report: file });
