import { curlSample } from "./curl.ts";
import { phpSample } from "./php.ts";
import { pythonSample } from "./python.ts";
import type { SampleInput } from "./sample.ts";
import { typescriptSample } from "./typescript.ts";

/** The languages of the code samples, in the sequence in which their tabs are shown. */
export const sampleLanguages: readonly SampleLanguage[] = [
  { id: "curl", label: "curl", highlight: "bash", write: curlSample },
  { id: "typescript", label: "TypeScript", highlight: "typescript", write: typescriptSample },
  { id: "python", label: "Python", highlight: "python", write: pythonSample },
  { id: "php", label: "PHP", highlight: "php", write: phpSample },
];

interface SampleLanguage {
  id: string;
  label: string;
  /** The name of the language in the syntax highlighter. */
  highlight: string;
  write(sample: SampleInput): string;
}
