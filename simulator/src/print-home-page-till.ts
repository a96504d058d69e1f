/** Prints the till of the day that the home page of the documentation shows. */
import { stdout } from "node:process";
import { documentationHomePageDay, generateDocumentationExampleTill } from "./demo-location.ts";

stdout.write(JSON.stringify(generateDocumentationExampleTill(documentationHomePageDay)));
