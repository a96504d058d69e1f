/** Writes the till of the day that the documentation draws, as a point of sale pushes it. */
import { stdout } from "node:process";
import { generateExampleTill, homePageDay } from "./demo-location.ts";

stdout.write(JSON.stringify(generateExampleTill(homePageDay)));
