import { generateCurlSample } from "./curl.ts";
import { generatePhpSample } from "./php.ts";
import { generatePythonSample } from "./python.ts";
import type { CodeSampleInput } from "./sample.ts";
import { generateTypescriptSample } from "./typescript.ts";

/** The languages of the code samples, in the sequence in which their tabs are shown. */
export const codeSampleLanguages: readonly SampleLanguage[] = [
  { id: "curl", label: "curl", highlight: "bash", write: generateCurlSample },
  { id: "typescript", label: "TypeScript", highlight: "typescript", write: generateTypescriptSample },
  { id: "python", label: "Python", highlight: "python", write: generatePythonSample },
  { id: "php", label: "PHP", highlight: "php", write: generatePhpSample },
];

interface SampleLanguage {
  id: string;
  label: string;
  /** The name of the language in the syntax highlighter. */
  highlight: string;
  write(sample: CodeSampleInput): string;
}
