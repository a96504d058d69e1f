import { curlSample } from "./curl.ts";
import { phpSample } from "./php.ts";
import { pythonSample } from "./python.ts";
import type { SampleOf } from "./sample.ts";
import { typescriptSample } from "./typescript.ts";

/** The languages that requests are shown in, in the order of their tabs. */
export const sampleLanguages: readonly SampleLanguage[] = [
  { id: "curl", label: "curl", highlight: "bash", write: curlSample },
  { id: "typescript", label: "TypeScript", highlight: "typescript", write: typescriptSample },
  { id: "python", label: "Python", highlight: "python", write: pythonSample },
  { id: "php", label: "PHP", highlight: "php", write: phpSample },
];

interface SampleLanguage {
  id: string;
  label: string;
  /** As the highlighter names it. */
  highlight: string;
  write(sample: SampleOf): string;
}
