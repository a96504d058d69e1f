/** Prints the till of the day that the home page of the documentation shows. */
import { stdout } from "node:process";
import { documentationHomePageDay, generateExampleTill } from "./demo-location.ts";

stdout.write(JSON.stringify(generateExampleTill(documentationHomePageDay)));
