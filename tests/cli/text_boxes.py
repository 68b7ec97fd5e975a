# text_boxes.py PICTURE.svg ...: no text of a picture lies over another one or beyond its edge.  A character is taken to be 0.6
# of the font's size wide, which the usual sans-serif fonts need on average at most.
import re, sys, xml.dom.minidom

WIDE, ABOVE, BELOW = 0.6, 0.78, 0.22

def box(text):
    of = lambda name, other="0": text.getAttribute(name) or other
    words = "".join(n.data for n in text.childNodes if n.nodeType == n.TEXT_NODE)
    size, anchor = float(of("font-size", "16")), of("text-anchor", "start")
    long = WIDE * size * len(words)
    x, y, turned = float(of("x")), float(of("y")), False
    moved = re.search(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", of("transform", ""))
    if moved:
        x, y, turned = float(moved[1]), float(moved[2]), "rotate(-90)" in of("transform")
    begin = {"start": 0, "middle": -long / 2, "end": -long}[anchor]
    if turned:
        return words, x - ABOVE * size, y - begin - long, x + BELOW * size, y - begin
    return words, x + begin, y - ABOVE * size, x + begin + long, y + BELOW * size

wrong = 0
for path in sys.argv[1:]:
    svg = xml.dom.minidom.parse(path).documentElement
    wide, high = float(svg.getAttribute("width")), float(svg.getAttribute("height"))
    boxes = [box(t) for t in svg.getElementsByTagName("text")]
    assert len(boxes) > 4, f"{path}: {len(boxes)} texts"
    for k, (words, x0, y0, x1, y1) in enumerate(boxes):
        if x0 < 0 or y0 < 0 or x1 > wide or y1 > high:
            print(f"{path}: '{words}' leaves the picture: {x0:.0f} {y0:.0f} {x1:.0f} {y1:.0f}")
            wrong = 1
        for other, a0, b0, a1, b1 in boxes[:k]:
            if x0 < a1 and a0 < x1 and y0 < b1 and b0 < y1:
                print(f"{path}: '{words}' lies over '{other}'")
                wrong = 1
sys.exit(wrong)
