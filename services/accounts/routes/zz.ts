import { x } from "../../../gateway/src/x.ts"; export const y = x;
