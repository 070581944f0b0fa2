import { UnknownScreen } from "./screens-end.tsx";
import { serverWords } from "./server-words.ts";
import { Alone, type PageRequest, Shell } from "./shell.tsx";

/** What a link that leads to no payment opens. */
export function UnknownPage({ request }: { request: PageRequest }) {
  return (
    <Shell request={request} sandbox={false}>
      <Alone>
        <UnknownScreen words={serverWords(request.language)} />
      </Alone>
    </Shell>
  );
}
