"""The station's page for phones on the network: HTTPS, two secrets, and a hold with its age."""
