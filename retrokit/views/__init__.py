"""What people look at: pages made of artefacts; nothing in here searches or plays."""
