/** What a person sees at an address that leads nowhere. */
export default function NotFound() {
  return (
    <main>
      <h1>Nothing here</h1>
      <p className="lead">
        This address leads nowhere. Check the link, or ask who sent it for a new one.
      </p>
      <p>
        <a href="/">What this server is</a>
      </p>
    </main>
  );
}
