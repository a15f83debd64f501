import {
  accepted,
  ensure,
  error,
  field,
  get,
  group,
  HttpClientError,
  noContent,
  ok,
  post,
  routes,
  SidecarError,
  secret,
  sidecar,
  signature,
  Type,
} from "@tenon/sdk";

/** The fields of GitHub's event `issues` that are used here; others are ignored. */
const IssueEvent = Type("IssueEvent", {
  action: field.string(),
  issue: Type("Issue", { title: field.string(), html_url: field.string({ format: "uri" }) }),
  repository: Type("Repository", { full_name: field.string() }),
});

const github = group(
  "/github",
  {
    /** Post each opened issue to the chat. */
    issues: post("/issues", { body: IssueEvent, status: 202 }, async ({ body }, req) => {
      const delivery = ensure(req.headers.get("x-github-delivery"), 400, "the delivery has no id");
      const { action, issue, repository } = body;
      if (action !== "opened") return accepted();
      // GitHub repeats uncertain deliveries, and the sidecar repeats failed requests. The chat posts each message once.
      const answer = await sidecar("chat")
        .request()
        .post("/v1/messages")
        .header("idempotency-key", delivery)
        .json({ text: `${repository.full_name}: ${issue.title} ${issue.html_url}` })
        .send();
      return answer.ok ? accepted() : error(502, "the chat did not take the message");
    }),
    /** Answer GitHub's ping. */
    ping: post("/ping", { status: 204 }, () => noContent()),
  },
  { use: [signature({ scheme: "github", secret: () => secret("GITHUB") })] },
);

export default routes(
  {
    /** Service banner. */
    index: get(["/", ""], () => ok({ service: "webhooks", message: "GitHub's webhooks go to /github/issues" })),
    github,
  },
  {
    // GitHub shows the answer, and delivers again on request.
    onError: (thrown) =>
      thrown instanceof SidecarError || thrown instanceof HttpClientError
        ? error(502, "the chat cannot be reached")
        : undefined,
  },
);
