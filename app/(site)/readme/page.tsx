import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const dynamic = "force-dynamic";

/** The guide that lies beside the program, as it is written. */
export default async function Readme() {
  const text = await readFile(join(process.cwd(), "README.md"), "utf8").catch(
    () => "README.md is not beside this installation.",
  );
  return (
    <main>
      <p>
        <a href="/">Back</a>
      </p>
      <pre>{text}</pre>
    </main>
  );
}
