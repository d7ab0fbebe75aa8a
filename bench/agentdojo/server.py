"""A Manifold server as a process, and its REST API."""

import http.client
import json
import os
import subprocess
import time
from urllib.parse import urlsplit


class Refused(RuntimeError):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Client:
    def __init__(self, url, key, timeout=60):
        self.netloc, self.key, self.timeout = urlsplit(url).netloc, key, timeout

    def __call__(self, method, path, body=None, wait=0):
        connection = http.client.HTTPConnection(self.netloc, timeout=self.timeout)
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.key}
        if wait:
            headers["Prefer"] = f"wait={wait}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            raw = response.read()
        finally:
            connection.close()
        if response.status >= 400:
            raise Refused(response.status, f"{method} {path}: {response.status} {raw[:600].decode(errors='replace')}")
        return json.loads(raw) if raw else None


class Server:
    """manifold serve with one domain, on a data folder of its own."""

    def __init__(self, binary, folder, domain, model_url=None, flags=()):
        os.makedirs(folder, exist_ok=True)
        bootstrap = os.path.join(folder, "domains.json")
        with open(bootstrap, "w") as out:
            json.dump({"domains": [{"domain": domain.suite.name, "url": domain.url}]}, out)
        data = os.path.join(folder, "data")
        command = [
            binary, "serve", "--addr", "127.0.0.1:0", "--data", data, "--bootstrap", bootstrap,
            "--sessions-per-minute", "100000", "--requests-per-minute", "1000000", *flags,
        ]
        env = {k: v for k, v in os.environ.items() if not k.startswith("REASONING_")}
        if model_url:
            env |= {"REASONING_ENGINE": "openai", "REASONING_MODEL": "ground-truth", "REASONING_BASE_URL": model_url}
        self.log = open(os.path.join(folder, "server.log"), "ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=env, text=True)
        try:
            self.url = self._address()
            with open(os.path.join(data, "admin.key")) as key:
                self.admin = Client(self.url, key.read().strip())
            self._settled(domain.suite.name, len(domain.suite.tools))
        except BaseException:
            self.stop()
            raise

    def _address(self):
        for line in self.process.stdout:
            if "serving at " in line:
                return line.split("serving at ", 1)[1].strip()
        raise RuntimeError("the server ended before it was serving; see " + self.log.name)

    def _settled(self, domain, tools, within=120):
        """Waits until each function of the domain is served."""
        end, state = time.monotonic() + within, None
        while time.monotonic() < end:
            state = self.admin("GET", "/v1/domains/" + domain)
            try:
                if len(self.admin("GET", f"/v1/capabilities?limit=100&domain={domain}")["items"]) == tools:
                    return
            except Refused as refused:
                if refused.status != 404:
                    raise
            time.sleep(0.2)
        raise RuntimeError(f"{domain} is not served whole: {json.dumps(state)[:2000]}")

    def person(self, name, role):
        return Client(self.url, self.admin("POST", "/v1/keys", {"kind": "user", "principal": name, "roles": [role]})["key"])

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()
